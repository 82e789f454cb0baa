import { randomUUID } from 'node:crypto';
import { type Client, connect, type TaskStream } from 'parley-a2a/client';
import { grpcTransport } from 'parley-a2a-grpc';
import { describe, expect, it } from 'vitest';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { followUpParams, startParams, taskOf, textOf } from './said.js';
import { hasFault, type Stage } from './stage.js';

type Event = TaskStream extends AsyncIterable<infer One> ? One : never;

const COUNT = 4;
const WHOLE = 'chunk 1 chunk 2 chunk 3 chunk 4 ';

/** Tests that streams arrive without buffering, are cut, and are resumed. */
export function testStreams(stage: Stage): void {
  describe('a stream', () => {
    it('shows a message', async () => {
      const events = await all(stage.client.sendStreamingMessage('hello'));
      expect(events).toMatchObject([{ message: { parts: [{ text: 'Echo: hello' }] } }]);
    });

    it('shows each event before the next one is made', async () => {
      const { client } = stage;
      const gate = randomUUID();
      const stream = client.sendStreamingMessage(`chunks ${gate} ${COUNT}`);
      const events = await readEvents(stream, gate, client);
      expect(events.map(shapeOf)).toEqual([
        'TASK_STATE_SUBMITTED',
        'TASK_STATE_WORKING',
        'artifact',
        'append',
        'append',
        'append last',
        'TASK_STATE_COMPLETED',
      ]);
      expect([stream.state, stream.breaks]).toEqual(['TASK_STATE_COMPLETED', 0]);
      expect((await client.getTask(stream.taskId ?? '')).artifacts?.map(textOf)).toEqual([WHOLE]);
    });

    it('that is cut goes on, and nothing of its content is lost', async () => {
      const { client } = stage;
      const gate = randomUUID();
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(client.agentInterface.url)?.[1]);
      await using proxy = await CuttingProxy.open(port, { at: 'chunk 3 ', times: 2 });
      const stream = (await through(proxy, stage)).sendStreamingMessage(`chunks ${gate} ${COUNT}`);
      const events = await readEvents(stream, gate, client);
      if (!hasFault(stage, 'stores watched chunks twice')) expect(contentOf(events)).toBe(WHOLE);
      expect(contentOf(events)).toMatch(/^chunk 1 .*chunk 2 .*chunk 3 .*chunk 4 $/);
      expect(stream.state).toBe('TASK_STATE_COMPLETED');
      expect([proxy.cuts, stream.breaks >= 2]).toEqual([2, true]);
    });

    it('of a task shows what it is and what it becomes', async () => {
      const { client } = stage;
      const gate = randomUUID();
      const { id } = taskOf(await client.sendMessage(startParams(`chunks ${gate} ${COUNT}`)));
      const stream = client.subscribeToTask(id);
      const events = await readEvents(stream, gate, client);
      expect(stream.state).toBe('TASK_STATE_COMPLETED');
      expect(events.every((event) => taskIdOf(event) === id)).toBe(true);
      expect(events.map(shapeOf).at(-1)).toBe('TASK_STATE_COMPLETED');
    });

    it('ends with the question of an agent, and another one with the answer to it', async () => {
      const { client } = stage;
      const asking = client.sendStreamingMessage('ask');
      const asked = await all(asking);
      expect(asked.map(shapeOf).at(-1)).toBe('TASK_STATE_INPUT_REQUIRED');
      const task = await client.getTask(asking.taskId ?? '');
      const answering = client.sendStreamingMessage(followUpParams(task, 'nothing more'));
      const answered = await all(answering);
      expect([answering.taskId, answering.state]).toEqual([task.id, 'TASK_STATE_COMPLETED']);
      expect(answered.map(shapeOf)).toContain('artifact last');
    });

    it('ends when its task is canceled', async () => {
      const { client } = stage;
      if (hasFault(stage, 'hides cancelling from streams')) return;
      const stream = client.sendStreamingMessage('wait');
      const shapes: string[] = [];
      for await (const event of stream) {
        shapes.push(shapeOf(event));
        if (shapes.at(-1) === 'TASK_STATE_WORKING') await client.cancelTask(stream.taskId ?? '');
      }
      expect(shapes.at(-1)).toBe('TASK_STATE_CANCELED');
    });

    it('is left, and its task goes on', async () => {
      const { client } = stage;
      const gate = randomUUID();
      const stream = client.sendStreamingMessage(`chunks ${gate} 2`);
      for await (const event of stream) if (event.artifactUpdate !== undefined) break;
      await client.sendMessage(`saw ${gate}-2`);
      const { status } = await client.waitFor(stream.taskId ?? '');
      expect(status.state).toBe('TASK_STATE_COMPLETED');
    });
  });
}

/** The agent gives a chunk only when the one before was seen: what is held back never comes. */
async function readEvents(stream: TaskStream, gate: string, teller: Client): Promise<Event[]> {
  const events: Event[] = [];
  let told = 1;
  for await (const event of stream) {
    events.push(event);
    const last = Number(/chunk (\d) $/.exec(contentOf(events))?.[1] ?? 1);
    for (; told <= last && told < COUNT; told++) await teller.sendMessage(`saw ${gate}-${told + 1}`);
  }
  return events;
}

async function all(stream: TaskStream): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The content of all artifacts after the events. A task replaces earlier content. */
function contentOf(events: readonly Event[]): string {
  return events.reduce((content, event) => {
    if (event.task !== undefined) return event.task.artifacts?.map(textOf).join('') ?? '';
    if (event.artifactUpdate === undefined) return content;
    const { append, artifact } = event.artifactUpdate;
    return (append === true ? content : '') + textOf(artifact);
  }, '');
}

function shapeOf(event: Event): string {
  if (event.task !== undefined) return event.task.status.state;
  if (event.statusUpdate !== undefined) return event.statusUpdate.status.state;
  if (event.message !== undefined) return 'message';
  const { append = false, lastChunk = false } = event.artifactUpdate;
  return `${append ? 'append' : 'artifact'}${lastChunk ? ' last' : ''}`;
}

function taskIdOf(event: Event): string | undefined {
  if (event.task !== undefined) return event.task.id;
  if (event.message !== undefined) return event.message.taskId;
  return event.statusUpdate !== undefined ? event.statusUpdate.taskId : event.artifactUpdate.taskId;
}

/** The same agent behind a proxy that its card knows nothing of. */
function through(proxy: CuttingProxy, { client }: Stage): Promise<Client> {
  const { protocolBinding: binding, url } = client.agentInterface;
  const place = /127\.0\.0\.1:\d+/.exec(url)?.[0] ?? '';
  const supportedInterfaces = client.card.supportedInterfaces.map((one) => ({
    ...one,
    url: one.url.replace(place, new URL(proxy.url).host),
  }));
  const resume = { firstMs: 5 };
  return connect({ ...client.card, supportedInterfaces }, { binding, bindings: [grpcTransport()], resume });
}
