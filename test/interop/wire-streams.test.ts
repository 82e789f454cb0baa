import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.js';
import { type Body, collect, type Frame, reasonOf, sendParams, Wire, type WireRequest } from './wire.js';

let server: ExampleServer;
let wire: Wire;
beforeAll(async () => {
  server = await ExampleServer.start();
  wire = new Wire(server.url);
});
afterAll(() => server[Symbol.asyncDispose]());

/** The request for a stream and the place of its events, for each binding. */
const BINDINGS = {
  'HTTP+JSON': {
    stream: (message: object) => wire.frames('/spec/message:stream', { body: message }),
    subscribe: (id: string, request: WireRequest = {}) => wire.frames(`/spec/tasks/${id}:subscribe`, request),
    refused: (id: string, headers: Record<string, string>) => wire.send(`/spec/tasks/${id}:subscribe`, { headers }),
    event: ({ data }: Frame) => data,
  },
  'JSON-RPC': {
    stream: (params: object) =>
      wire.frames('/spec', { body: { jsonrpc: '2.0', id: 'x', method: 'SendStreamingMessage', params } }),
    subscribe: (id: string, request: WireRequest = {}) =>
      wire.frames('/spec', {
        ...request,
        body: { jsonrpc: '2.0', id: 'x', method: 'SubscribeToTask', params: { id } },
      }),
    refused: (id: string, headers: Record<string, string>) => wire.rpc('/spec', 'SubscribeToTask', { id }, { headers }),
    event: ({ data }: Frame) => data.result as Body,
  },
} as const;

const since = (id: number | string) => ({ headers: { 'last-event-id': String(id) } });
const ids = (frames: readonly Frame[]) => frames.map(({ id }) => id);
const send = async (message: object) =>
  ((await wire.send('/spec/message:send', { body: message })).body.task ?? {}) as Body;
const finishedTask = async (text: string) => String((await send(sendParams(text))).id);

describe.each(Object.entries(BINDINGS))('streams over %s', (_, { stream, subscribe, refused, event }) => {
  const stateOf = (frame: Frame | undefined) => {
    const { task, statusUpdate } = (frame === undefined ? {} : event(frame)) as { task?: Body; statusUpdate?: Body };
    return ((task ?? statusUpdate)?.status as Body | undefined)?.state;
  };

  it('number their events from 1 without gaps', async () => {
    const frames = await collect(stream(sendParams('data-types')));
    expect(ids(frames)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  });

  it('give a direct message no number', async () => {
    const frames = await collect(stream(sendParams('message-only')));
    expect(ids(frames)).toEqual([undefined]);
  });

  it('are repeated from any event on, also once the task has ended', async () => {
    const whole = await collect(stream(sendParams('data-types')));
    const id = String((event(whole[0] as Frame).task as Body).id);
    for (const seen of [0, 1, 4, 6]) {
      expect((await collect(subscribe(id, since(seen)))).map(event)).toEqual(whole.slice(seen).map(event));
      expect(ids(await collect(subscribe(id, since(seen))))).toEqual(ids(whole).slice(seen));
    }
  });

  it('are refused where nothing can follow: the last event of a task that has ended was seen', async () => {
    const id = await finishedTask('data-types');
    expect(reasonOf(await refused(id, since(7).headers))).toBe('UNSUPPORTED_OPERATION');
    expect(reasonOf(await refused(id, {}))).toBe('UNSUPPORTED_OPERATION');
  });

  it.each(['8', '999999', 'x', '-1', '1.5', '1e1', ''])(
    'begin anew with the task where the last id is %j',
    async (last) => {
      const id = String((await send(sendParams('multi-turn'))).id);
      for await (const frame of subscribe(id, since(last))) {
        expect(stateOf(frame)).toBe('TASK_STATE_INPUT_REQUIRED');
        expect(event(frame)).toMatchObject({ task: { id, artifacts: [{ artifactId: 'turn-1' }] } });
        expect(frame.id).toBe('4');
        break;
      }
    },
  );

  it('wait where the last event of a task that goes on was seen, and go on behind it', async () => {
    const id = String((await send(sendParams('multi-turn'))).id);
    const reading = collect(subscribe(id, since(4)));
    await send(sendParams('done', { taskId: id }));
    const frames = await reading;
    expect(ids(frames)).toEqual(['5', '6', '7']);
    expect(frames.map(stateOf)).toEqual(['TASK_STATE_WORKING', undefined, 'TASK_STATE_COMPLETED']);
  });

  it('go on exactly where they were cut, however often', async () => {
    const seen: Frame[] = [];
    for await (const frame of stream(sendParams('streaming'))) {
      seen.push(frame);
      if (seen.length === 3) break;
    }
    const id = String((event(seen[0] as Frame).task as Body).id);
    while (stateOf(seen.at(-1)) !== 'TASK_STATE_COMPLETED') {
      const before = seen.length;
      for await (const frame of subscribe(id, since(seen.at(-1)?.id ?? ''))) {
        seen.push(frame);
        if (seen.length === before + 2) break;
      }
    }
    expect(ids(seen)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    expect((await collect(subscribe(id, since(0)))).map(event)).toEqual(seen.map(event));
  });

  it('do not take the task along when they are cut (Spec §3.5.2)', async () => {
    let id = '';
    for await (const frame of stream(sendParams('task-lifecycle'))) {
      id = String((event(frame).task as Body).id);
      break;
    }
    const frames = await collect(subscribe(id, since(1)));
    expect(stateOf(frames.at(-1))).toBe('TASK_STATE_COMPLETED');
  });

  it('begin with the task where nobody says what was seen (Spec §3.1.6)', async () => {
    const id = String((await send({ ...sendParams('streaming'), configuration: { returnImmediately: true } })).id);
    const frames = await collect(subscribe(id));
    expect(event(frames[0] as Frame)).toMatchObject({ task: { id } });
    const numbers = ids(frames).map(Number);
    expect(numbers).toEqual(numbers.map((_number, index) => (numbers[0] ?? 0) + index));
    expect(numbers.at(-1)).toBe(7);
  });
});

describe('streams over HTTP+JSON', () => {
  it('are subscribed to by GET and by POST, with a body or without', async () => {
    const id = await finishedTask('data-types');
    const path = `/spec/tasks/${id}:subscribe`;
    for (const request of [{}, { method: 'POST' }, { method: 'POST', body: '' }, { method: 'POST', body: '{}' }]) {
      expect(await collect(wire.frames(path, { ...request, ...since(0) }))).toHaveLength(7);
    }
  });
});

describe('failing streams over JSON-RPC', () => {
  const params = { id: 'unknown' };

  it('are one frame with the error for the Go client, which reads nothing else', async () => {
    const body = { jsonrpc: '2.0', id: 5, method: 'SubscribeToTask', params };
    const headers = { accept: 'text/event-stream', 'user-agent': 'Go-http-client/1.1' };
    const frames = await collect(wire.frames('/spec', { body, headers }));
    expect(frames).toHaveLength(1);
    expect(frames[0]?.data).toMatchObject({ jsonrpc: '2.0', id: 5, error: { code: -32001 } });
  });

  it('are a plain answer for others', async () => {
    const answer = await wire.rpc('/spec', 'SubscribeToTask', params, { headers: { accept: 'text/event-stream' } });
    expect(answer.status).toBe(200);
    expect(reasonOf(answer)).toBe('TASK_NOT_FOUND');
  });
});
