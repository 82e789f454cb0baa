import { connect } from 'parley-a2a/client';
import { grpcTransport } from 'parley-a2a-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HostProcess } from '../hosts/host-process.js';
import { testCalls } from './calls.js';
import { PEERS, type Peer, type PeerName } from './peers.js';
import { testPush } from './push.js';
import { testRefusals } from './refusals.js';
import { BINDINGS, type Stage } from './stage.js';
import { testStreams } from './streams.js';

/** The whole matrix of scenarios against one server. */
export function testPeer(name: PeerName): void {
  const peer: Peer = PEERS[name];
  const [program, ...args] = peer.command;
  describe.runIf(program !== undefined)(name, () => {
    let host: HostProcess;
    beforeAll(async () => {
      host = await HostProcess.start({ command: [program ?? '', ...args], ready: /ready|Uvicorn running/ });
    });
    afterAll(() => host[Symbol.asyncDispose]());

    describe.each(BINDINGS)('over %s', (binding) => {
      const stage = { peer, binding } as { -readonly [Name in keyof Stage]: Stage[Name] };
      beforeAll(async () => {
        stage.client = await connect(host.url, { binding, bindings: [grpcTransport()] });
      });

      it('is found by its base url', () => {
        const { version: protocolVersion } = peer;
        expect(stage.client.card.description).toContain('official SDK');
        expect(stage.client.agentInterface).toMatchObject({ protocolBinding: binding, protocolVersion });
      });

      testCalls(stage);
      testStreams(stage);
      testPush(stage);
      testRefusals(stage);
    });
  });
}
