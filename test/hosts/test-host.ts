import { afterAll, beforeAll, describe } from 'vitest';
import { testCalls } from './calls.js';
import { HostProcess } from './host-process.js';
import { HOSTS, type HostName } from './hosts.js';
import { MountedAgent } from './mounted-agent.js';
import { testOfficialClient } from './official-client.js';
import { testRefusals } from './refusals.js';
import { testStreams } from './streams.js';

/** The stage of the scenarios, available once the tests run. */
export interface Stage {
  readonly url: string;
  readonly open: MountedAgent;
  readonly guarded: MountedAgent;
}

/** The whole matrix of scenarios on one host; `more` adds tests of hosts of its kind. */
export function testHost(name: HostName, more: (stage: Stage) => void = () => {}): void {
  describe(name, () => {
    let host: HostProcess;
    const stage = {} as { url: string; open: MountedAgent; guarded: MountedAgent };
    beforeAll(async () => {
      host = await HostProcess.start(HOSTS[name]);
      stage.url = host.url;
      stage.open = await MountedAgent.at(`${host.url}/agents/open`);
      stage.guarded = await MountedAgent.at(`${host.url}/agents/guarded`);
    });
    afterAll(() => host[Symbol.asyncDispose]());

    testCalls(stage, HOSTS[name]);
    testStreams(stage);
    testRefusals(stage, HOSTS[name]);
    testOfficialClient(stage);
    more(stage);
  });
}
