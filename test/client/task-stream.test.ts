import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { connect, STREAM_RESUME_EXTENSION, type TaskStream } from '../../packages/parley/src/exports/client.js';
import type { StreamResponse } from '../../packages/parley/src/model/stream-response.js';
import { result, StubAgent, type StubAnswer, type StubCall, task } from './stub-agent.js';

const FAST = { firstMs: 1, longestMs: 5 };
const numbering = { capabilities: { streaming: true, extensions: [{ uri: STREAM_RESUME_EXTENSION }] } };

const status = (state: string): object => ({ statusUpdate: { taskId: 't1', contextId: 'c1', status: { state } } });
const chunk = (text: string): object => ({
  artifactUpdate: { taskId: 't1', contextId: 'c1', artifact: { artifactId: 'a', parts: [{ text }] }, append: true },
});
const frame = (event: object, id?: number): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: event })}\n\n`;

/** A stream of these frames, closed cleanly, cut, or left open. */
const streamText =
  (text: string, end: 'close' | 'cut' | 'open' = 'close'): StubAnswer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => {
      if (end === 'close') response.end();
      if (end === 'cut') response.destroy();
    });
  };
const refuseWith = (code: number): StubAnswer => ({ body: { jsonrpc: '2.0', id: 1, error: { code, message: 'no' } } });

const methodOf = ({ json }: StubCall): string => String(json?.method);

/** A stub that answers each method with the next of its answers. */
function startScriptedAgent(answers: Readonly<Record<string, readonly StubAnswer[]>>): Promise<StubAgent> {
  const left = new Map(Object.entries(answers).map(([method, list]) => [method, [...list]]));
  return StubAgent.start((call) => left.get(methodOf(call))?.shift() ?? refuseWith(-32601));
}

async function all(stream: TaskStream): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const working = { task: task('TASK_STATE_WORKING') };
const completed = status('TASK_STATE_COMPLETED');

describe('a stream whose agent numbers its events', () => {
  it('goes on after the last event seen, and drops what comes twice', async () => {
    await using stub = await startScriptedAgent({
      SendStreamingMessage: [streamText(frame(working, 1) + frame(chunk('a'), 2), 'cut')],
      SubscribeToTask: [
        streamText(frame(chunk('a'), 2) + frame(chunk('b'), 3)),
        streamText(frame(chunk('c'), 4) + frame(completed, 5)),
      ],
    });
    const stream = (await connect(stub.card(numbering), { resume: FAST })).sendStreamingMessage('hi');
    expect(await all(stream)).toEqual([working, chunk('a'), chunk('b'), chunk('c'), completed]);
    expect(stub.calls.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '3']);
    expect(stream).toMatchObject({
      taskId: 't1',
      contextId: 'c1',
      state: 'TASK_STATE_COMPLETED',
      lastEventId: '5',
      breaks: 2,
    });
  });

  it('takes a snapshot for what it says, also under a lower number', async () => {
    await using stub = await startScriptedAgent({
      SendStreamingMessage: [streamText(frame(working, 7) + frame(chunk('a'), 8))],
      SubscribeToTask: [streamText(frame(working, 2) + frame(completed, 3))],
    });
    const stream = (await connect(stub.card(numbering), { resume: FAST })).sendStreamingMessage('hi');
    expect(await all(stream)).toEqual([working, chunk('a'), working, completed]);
  });

  it('goes on where a caller says that it was', async () => {
    await using stub = await startScriptedAgent({ SubscribeToTask: [streamText(frame(completed, 5))] });
    const client = await connect(stub.card(numbering), { resume: FAST });
    expect(await all(client.subscribeToTask('t1', { lastEventId: '4' }))).toEqual([completed]);
    expect(stub.calls[0]?.headers['last-event-id']).toBe('4');
  });
});

describe('a stream whose agent numbers nothing', () => {
  it('goes on with the task as it is', async () => {
    const now = { task: task('TASK_STATE_WORKING', { artifacts: [{ artifactId: 'a', parts: [{ text: 'ab' }] }] }) };
    await using stub = await startScriptedAgent({
      SendStreamingMessage: [streamText(frame(working) + frame(chunk('a')), 'cut')],
      SubscribeToTask: [streamText(frame(now) + frame(completed))],
    });
    const stream = (await connect(stub.card(), { resume: FAST })).sendStreamingMessage('hi');
    expect(await all(stream)).toEqual([working, chunk('a'), now, completed]);
  });

  it('ends with the task where there is nothing more to follow', async () => {
    await using stub = await startScriptedAgent({
      SendStreamingMessage: [streamText(frame(working))],
      SubscribeToTask: [refuseWith(-32004)],
      GetTask: [result(task('TASK_STATE_COMPLETED'))],
    });
    const stream = (await connect(stub.card(), { resume: FAST })).sendStreamingMessage('hi');
    expect(await all(stream)).toEqual([working, { task: task('TASK_STATE_COMPLETED') }]);
  });

  it('looks again and again at a task whose agent shows no streams of it, and tells only what is new', async () => {
    const half = { task: task('TASK_STATE_WORKING', { artifacts: [{ artifactId: 'a', parts: [{ text: 'a' }] }] }) };
    await using stub = await startScriptedAgent({
      SendStreamingMessage: [streamText(frame(working))],
      SubscribeToTask: Array.from({ length: 9 }, () => refuseWith(-32001)),
      GetTask: [
        ...Array.from({ length: 3 }, () => result(half.task)),
        { status: 502 },
        result(half.task),
        result(task()),
      ],
    });
    const stream = (await connect(stub.card(), { resume: FAST })).sendStreamingMessage('hi');
    expect(await all(stream)).toEqual([working, half, { task: task() }]);
  });

  it('does not give up an agent that closes each subscription at once, as long as it answers', async () => {
    const open = Array.from({ length: 20 }, () => streamText(frame(working)));
    await using stub = await startScriptedAgent({
      SendStreamingMessage: [streamText(frame(working))],
      SubscribeToTask: [...open, streamText(frame(completed))],
    });
    const stream = (await connect(stub.card(), { resume: { ...FAST, attempts: 3 } })).sendStreamingMessage('hi');
    expect(await all(stream)).toEqual([working, working, completed]);
  });
});

describe('a stream ends', () => {
  it.each<readonly [string, object]>([
    ['with a message', { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } }],
    ['with a question', status('TASK_STATE_INPUT_REQUIRED')],
    ['at a request to log in, if the agent closes it there', status('TASK_STATE_AUTH_REQUIRED')],
    ['with the task', status('TASK_STATE_REJECTED')],
  ])('%s', async (_, last) => {
    await using stub = await startScriptedAgent({ SendStreamingMessage: [streamText(frame(working) + frame(last))] });
    expect(await all((await connect(stub.card())).sendStreamingMessage('hi'))).toEqual([working, last]);
    expect(stub.calls).toHaveLength(1);
  });

  it('with its last frame, also where the empty line after it is missing', async () => {
    await using stub = await startScriptedAgent({
      SendStreamingMessage: [streamText((frame(working) + frame(completed)).trimEnd())],
    });
    expect(await all((await connect(stub.card())).sendStreamingMessage('hi'))).toEqual([working, completed]);
    expect(stub.calls).toHaveLength(1);
  });

  it('soon after the task, also where the agent does not close it', async () => {
    await using stub = await startScriptedAgent({
      SendStreamingMessage: [streamText(frame(working) + frame(completed), 'open')],
    });
    expect(await all((await connect(stub.card())).sendStreamingMessage('hi'))).toEqual([working, completed]);
  });

  it('with the error that the agent sends', async () => {
    const failure = `event: error\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32006, message: 'broken agent' } })}\n\n`;
    await using stub = await startScriptedAgent({ SendStreamingMessage: [streamText(frame(working) + failure)] });
    const stream = (await connect(stub.card(), { resume: FAST })).sendStreamingMessage('hi');
    expect(await stream.next()).toEqual({ done: false, value: working });
    await expect(stream.next()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE', message: 'broken agent' });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('with an error where it cannot be kept going', async () => {
    await using stub = await StubAgent.start((call) =>
      methodOf(call) === 'SendStreamingMessage' ? streamText(frame(working)) : { status: 502, body: 'gateway' },
    );
    const client = await connect(stub.card(numbering), { resume: { ...FAST, attempts: 3 } });
    await expect(all(client.sendStreamingMessage('hi'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(stub.calls).toHaveLength(4);
    const strict = await connect(stub.card(), { resume: { attempts: 0 } });
    await expect(all(strict.sendStreamingMessage('hi'))).rejects.toThrow('ended before its task did');
    expect(stub.calls).toHaveLength(5);
  });

  it('with an error where an event is too long', async () => {
    await using stub = await startScriptedAgent({
      SendStreamingMessage: [streamText(frame(working) + frame(chunk('x'.repeat(5_000))), 'open')],
    });
    const stream = (await connect(stub.card(), { eventBytes: 2_000 })).sendStreamingMessage('hi');
    await expect(all(stream)).rejects.toThrow('longer than 2000 characters');
  });

  it('when the caller leaves, and so does the connection', async () => {
    const gone = Promise.withResolvers<void>();
    await using stub = await StubAgent.start(() => (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(frame(working));
      response.on('close', () => gone.resolve());
    });
    const client = await connect(stub.card());
    for await (const event of client.sendStreamingMessage('hi')) {
      expect(event).toEqual(working);
      break;
    }
    await gone.promise;
    // Also while an event is waited for.
    const stream = client.sendStreamingMessage('hi');
    await stream.next();
    const next = stream.next();
    await stream.return();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

it('a stream is read no faster than its caller reads', { timeout: 30_000 }, async () => {
  const piece = frame(chunk('x'.repeat(60_000)));
  let written = 0;
  const stuck = Promise.withResolvers<void>();
  await using stub = await StubAgent.start(() => async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(frame(working));
    for (let count = 0; count < 2_000; count++) {
      written += piece.length;
      if (response.write(piece)) continue;
      // Much more than all buffers between server and reader can hold.
      const drained = await Promise.race([once(response, 'drain').then(() => true), pauseMs(500)]);
      if (drained !== true) {
        stuck.resolve();
        await once(response, 'drain');
      }
    }
    response.end(frame(completed));
  });
  const stream = (await connect(stub.card())).sendStreamingMessage('hi');
  await stream.next();
  await stuck.promise;
  expect(written).toBeLessThan(30_000_000);
  expect((await all(stream)).length).toBe(2_001);
});

function pauseMs(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms));
}

it('an agent without streams is asked in one call', async () => {
  await using stub = await startScriptedAgent({ SendMessage: [result({ task: task() })] });
  const client = await connect(stub.card({ capabilities: {} }));
  expect(await all(client.sendStreamingMessage('hi'))).toEqual([{ task: task() }]);
});

it('events that this version does not know are skipped', async () => {
  await using stub = await startScriptedAgent({
    SendStreamingMessage: [streamText(frame(working) + frame({ weatherUpdate: {} }) + frame(completed))],
  });
  expect(await all((await connect(stub.card())).sendStreamingMessage('hi'))).toEqual([working, completed]);
});
