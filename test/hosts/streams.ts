import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Body, collect, type Frame, sendParams } from '../interop/wire.js';
import { BINDINGS, type BoundAgent, stateOf } from './mounted-agent.js';
import type { Stage } from './test-host.js';

const COUNT = 4;

/** Tests that streams arrive without buffering, are cut, and are resumed. */
export function testStreams(stage: Stage): void {
  /** The agent gives a chunk only when the one before was seen: what a host holds back never comes. */
  async function seeAll(agent: BoundAgent, gate: string): Promise<Frame[]> {
    const frames: Frame[] = [];
    for await (const frame of agent.stream(sendParams(`chunks ${gate} ${COUNT}`))) {
      frames.push(frame);
      const seen = chunkOf(agent.event(frame));
      if (seen !== undefined) await stage.open.say(`saw ${gate}-${seen + 1}`);
    }
    return frames;
  }

  describe.each(BINDINGS)('streams over %s', (binding) => {
    it('show each event before the next one is made', async () => {
      const agent = stage.open.over(binding);
      const frames = await seeAll(agent, randomUUID());
      expect(frames.map((frame) => chunkOf(agent.event(frame))).filter((chunk) => chunk)).toEqual([1, 2, 3, 4]);
      expect(frames.map(({ id }) => Number(id))).toEqual(frames.map((_, index) => index + 1));
      expect(stateOf(agent.event(frames.at(-1)))).toBe('TASK_STATE_COMPLETED');
    });

    it('do not hold each other up', async () => {
      const agent = stage.open.over(binding);
      const all = await Promise.all(Array.from({ length: 20 }, () => seeAll(agent, randomUUID())));
      for (const frames of all) expect(stateOf(agent.event(frames.at(-1)))).toBe('TASK_STATE_COMPLETED');
    });

    it('go on where they were cut', async () => {
      const agent = stage.open.over(binding);
      const gate = randomUUID();
      const seen: Frame[] = [];
      for await (const frame of agent.stream(sendParams(`chunks ${gate} ${COUNT}`))) {
        seen.push(frame);
        if (chunkOf(agent.event(frame)) === 1) break;
      }
      const { id } = agent.event(seen[0]).task as { id: string };
      for (let chunk = 2; chunk <= COUNT; chunk++) {
        await stage.open.say(`saw ${gate}-${chunk}`);
        for await (const frame of agent.subscribe(id, seen.at(-1)?.id)) {
          seen.push(frame);
          if (chunkOf(agent.event(frame)) === chunk) break;
        }
      }
      seen.push(...(await collect(agent.subscribe(id, seen.at(-1)?.id))));
      expect(seen.map((frame) => Number(frame.id))).toEqual(seen.map((_, index) => index + 1));
      expect((await collect(agent.subscribe(id, '0'))).map(agent.event)).toEqual(seen.map(agent.event));
    });

    it('begin with the task for those who subscribe', async () => {
      const agent = stage.open.over(binding);
      const { task } = await agent.send(sendParams('ask'));
      const { id } = task as { id: string };
      const frames = agent.subscribe(id);
      const first = await frames.next();
      expect(agent.event(first.value as Frame)).toEqual({ task });
      await agent.send(sendParams('task more', { taskId: id }));
      const rest = (await collect(frames)).map(agent.event);
      expect(stateOf(rest.at(-1) ?? {})).toBe('TASK_STATE_COMPLETED');
    });

    it('are let go when their reader leaves, and the task goes on', async () => {
      const agent = stage.open.over(binding);
      const gate = randomUUID();
      const nobody = () => expect.poll(() => stage.open.say('streams'), { timeout: 10_000 }).toBe('0');
      await nobody();
      const frames = agent.stream(sendParams(`chunks ${gate} 2`));
      const first = await frames.next();
      expect(await stage.open.say('streams')).toBe('1');
      await frames.return(undefined);
      await nobody();
      await stage.open.say(`saw ${gate}-2`);
      const { id } = agent.event(first.value as Frame).task as { id: string };
      await expect.poll(async () => stateOf(await agent.get(id)), { timeout: 10_000 }).toBe('TASK_STATE_COMPLETED');
    });
  });

  describe('a stream', () => {
    it('says that nobody on the way may hold it back', async () => {
      const { headers } = await stage.open.wire.send(`${stage.open.urlOf('HTTP+JSON')}/message:stream`, {
        body: sendParams('task x'),
      });
      expect(headers.get('content-type')).toBe('text/event-stream');
      expect(headers.get('cache-control')).toBe('no-cache, no-transform');
    });

    it('shows by comments that it lives while nothing happens', async () => {
      const decoder = new TextDecoder();
      let text = '';
      const response = await fetch(`${stage.open.urlOf('HTTP+JSON')}/message:stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify(sendParams('chunks never 2')),
      });
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        if (/: keep-alive\n\n.*: keep-alive\n\n/s.test(text)) break;
      }
      expect(text).toContain('chunk 1');
    });
  });
}

function chunkOf(event: Body): number | undefined {
  const { artifactUpdate } = event as { artifactUpdate?: { artifact: { parts: readonly { text: string }[] } } };
  const text = artifactUpdate?.artifact.parts[0]?.text;
  return text === undefined ? undefined : Number(text.replace('chunk ', ''));
}
