import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { JavaScriptPeer } from '../interop/javascript-peer.js';
import { watchfulFetch } from '../interop/leaks.js';
import { BINDINGS } from './mounted-agent.js';
import type { Stage } from './test-host.js';

/** The official JavaScript client finds the agent by its card and uses it. */
export function testOfficialClient(stage: Stage): void {
  it.each(BINDINGS)('the official client calls, streams, subscribes and cancels over %s', async (binding) => {
    const leaks: string[] = [];
    const peer = await JavaScriptPeer.connect(stage.open.mount, binding, watchfulFetch(leaks));
    const parts = (text: string) => ({ message: { parts: [{ text }] } });

    expect((await peer.send(parts('hello'))).message).toMatchObject({ parts: [{ text: 'Echo: hello' }] });

    const gate = randomUUID();
    const states: unknown[] = [];
    for await (const event of peer.stream(parts(`chunks ${gate} 2`))) {
      if ('artifactUpdate' in event) await stage.open.say(`saw ${gate}-2`);
      states.push(Object.keys(event)[0]);
    }
    expect(states).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);

    const { task } = await peer.send({ ...parts('wait'), configuration: { returnImmediately: true } });
    const id = String(task?.id);
    const seen: unknown[] = [];
    for await (const event of peer.subscribe(id)) {
      if (seen.push(Object.keys(event)[0]) === 1) void peer.cancel(id);
    }
    expect(seen.at(-1)).toBe('statusUpdate');
    expect(await peer.task(id)).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    expect(leaks).toEqual([]);
  });
}
