import { connect, createA2AServer, type StreamResponse } from 'parley-a2a';
import { describe, expect, it, onTestFinished } from 'vitest';

const CHUNKS = 12;

async function serveAgent(): Promise<string> {
  const server = createA2AServer({
    health: false,
    agent: {
      async execute(_context, events) {
        await events.working();
        const id = await events.artifact('0', { lastChunk: false });
        for (let at = 1; at < CHUNKS; at += 1) await events.append(id, ` ${at}`, { lastChunk: at === CHUNKS - 1 });
        await events.complete();
      },
    },
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return (await server.listen(0)).url;
}

/** Changes the frames of every event stream. `connection` counts the streams from 1. */
function changeFrames(change: (frame: string, connection: number) => string) {
  let connections = 0;
  const fetchChanged: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    connections += 1;
    const own = connections;
    let rest = '';
    const frames = new TransformStream<string, string>({
      transform(text, controller) {
        const parts = (rest + text).split('\n\n');
        rest = parts.pop() ?? '';
        for (const frame of parts) {
          const kept = change(frame, own);
          if (kept !== '') controller.enqueue(`${kept}\n\n`);
        }
      },
    });
    const body = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(frames);
    const bytes = body?.pipeThrough(new TextEncoderStream()) as ReadableStream<Uint8Array<ArrayBuffer>>;
    return new Response(bytes, { status: response.status, headers: { 'content-type': 'text/event-stream' } });
  };
  return { fetchChanged, connections: () => connections };
}

const idOf = (frame: string) => Number(/^id: ?(\d+)/m.exec(frame)?.[1]);

function textOf(events: readonly StreamResponse[]): string {
  const parts = events.flatMap((event) =>
    event.artifactUpdate !== undefined ? event.artifactUpdate.artifact.parts : [],
  );
  return parts.map((part) => (part.text !== undefined ? part.text : '')).join('');
}

const WHOLE = Array.from({ length: CHUNKS }, (_, at) => String(at)).join(' ');

describe.each(['JSONRPC', 'HTTP+JSON'])('a frame that is lost on the way, over %s', (binding) => {
  it.each([
    ['one in the middle', [6]],
    ['several, each on its own', [3, 6, 9]],
    ['several in a row', [5, 6, 7]],
  ])('%s, shows as a gap, and the stream goes on after the last event before it', async (_name, lost) => {
    const left = new Set(lost);
    const { fetchChanged, connections } = changeFrames((frame) => (left.delete(idOf(frame)) ? '' : frame));
    const client = await connect(await serveAgent(), {
      binding,
      fetch: fetchChanged,
      resume: { firstMs: 1, longestMs: 2 },
    });
    onTestFinished(() => client.close());
    const stream = client.sendStreamingMessage('hi');
    const events: StreamResponse[] = [];
    for await (const event of stream) events.push(event);
    expect(textOf(events)).toBe(WHOLE);
    expect(connections()).toBeGreaterThan(1);
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
  });

  it('no gap, no break', async () => {
    const client = await connect(await serveAgent(), { binding });
    onTestFinished(() => client.close());
    const stream = client.sendStreamingMessage('hi');
    for await (const _ of stream);
    expect(stream.breaks).toBe(0);
  });

  it.each([
    ['jump at each event', (frame: string) => frame.replace(/^id: ?(\d+)/m, (_, id) => `id: ${Number(id) * 1000}`)],
    [
      'jump anew on each connection',
      (frame: string, connection: number) =>
        frame.replace(/^id: ?(\d+)/m, (_, id) => `id: ${Number(id) * 3 ** Math.min(connection, 20)}`),
    ],
  ])('numbers that %s end no stream, and cost a bounded number of connections', async (_name, jump) => {
    const { fetchChanged, connections } = changeFrames(jump);
    const resume = { firstMs: 1, longestMs: 2, attempts: 4 };
    const client = await connect(await serveAgent(), { binding, fetch: fetchChanged, resume });
    onTestFinished(() => client.close());
    const stream = client.sendStreamingMessage('hi');
    for await (const _ of stream);
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
    expect(connections()).toBeLessThanOrEqual(1 + resume.attempts);
  });
});
