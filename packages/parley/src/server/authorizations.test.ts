import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { call, type Execute, engine, message, Seen, textOf } from '../../test/engine.js';
import { SqliteFiles } from '../../test/sqlite-files.js';
import { systemClock as clock, systemIds as ids } from '../exports/runtime.js';
import { isObject } from '../model/json.js';
import { SecretBox } from '../secrets/secret-box.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { AuthorizationRequest } from './authorization.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const SECRET = 'planted-code-4711';
const granted = { kind: 'granted', parameters: { code: SECRET } } as const;
const ada = call({ user: { id: 'ada', name: 'Ada' } });

/** An agent that asks for an authorization, and the answers that it got. */
function createAskingAgent(request: Partial<AuthorizationRequest> = {}) {
  const seen: unknown[] = [];
  const execute: Execute = async (context, events) => {
    await events.working();
    if (context.text === 'no, thanks') return events.reject('as you wish');
    const { parameters } = await context.requestAuthorization({
      message: 'Please allow me to read your calendar',
      url: ({ url, state }) => `https://provider.example/authorize?redirect_uri=${url}&state=${state}`,
      scopes: ['calendar.read'],
      ...request,
    });
    seen.push([context.text, context.user?.id, parameters]);
    await events.complete('done');
  };
  return { execute, seen };
}

function createEngine(execute: Execute, storage: TaskStorage = new MemoryStorage({ clock })) {
  return engine(execute, { storage, clock, ids, callbackUrl: () => 'https://agents.example/a2a/authorizations' })
    .handler;
}

/** The link of a task that waits. */
function linkOf(parts: readonly unknown[] | undefined): URL {
  const data = parts?.flatMap((part) => (isObject(part) && isObject(part.data) ? [part.data.authorization] : []))[0];
  return new URL(isObject(data) ? String(data.url) : '');
}

async function startAndAsk(handler: ReturnType<typeof createEngine>) {
  const sent = await handler.sendMessage({ message: message({ messageId: ids.random() }) }, ada);
  if (sent.task === undefined) throw new Error('There is a task');
  const { task } = sent;
  expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  return { task, state: linkOf(task.status.message?.parts).searchParams.get('state') ?? '' };
}

const stateOf = async (handler: ReturnType<typeof createEngine>, id: string) =>
  (await handler.getTask({ id }, ada)).status.state;
const until = (handler: ReturnType<typeof createEngine>, id: string, state: string) =>
  vi.waitFor(async () => expect(await stateOf(handler, id)).toBe(`TASK_STATE_${state}`), 15_000);

describe('an authorization in the middle of a task (Spec §7.6)', () => {
  it('arrives out of band, and the stream of the message goes on over it', async () => {
    const { execute, seen } = createAskingAgent();
    const handler = createEngine(execute);
    const stream = new Seen(handler.sendStreamingMessage({ message: message() }, ada));
    await vi.waitFor(() => expect(stream.shown.at(-1)).toBe('AUTH_REQUIRED'), 15_000);
    const event = stream.items.at(-1)?.event;
    const parts = event && event.statusUpdate !== undefined ? event.statusUpdate.status.message?.parts : [];
    expect(textOf(parts)).toContain('Please allow me');
    const link = linkOf(parts);
    expect(link.searchParams.get('redirect_uri')).toBe('https://agents.example/a2a/authorizations');
    const state = link.searchParams.get('state') ?? '';
    expect(state).toMatch(/^[\da-f]{64}$/);
    expect(await handler.authorize(state, granted)).toBeDefined();
    await vi.waitFor(() => expect(stream.ended).toBe(true), 15_000);
    expect(stream.shown).toEqual(['task SUBMITTED', 'WORKING', 'AUTH_REQUIRED', 'WORKING', 'COMPLETED']);
    expect(seen).toEqual([['hi', 'ada', { code: SECRET }]]);
    expect(JSON.stringify(stream.items)).not.toContain(SECRET);
    await handler.close();
  });

  it('is not lost when another caller asks for many, with much metadata', async () => {
    const handler = createEngine(createAskingAgent().execute);
    const { task, state } = await startAndAsk(handler);
    const metadata = { much: 'x'.repeat(8_000_000) };
    for (let at = 0; at < 6; at += 1) {
      const sent = { message: message({ messageId: ids.random() }), metadata };
      await handler.sendMessage(sent, call({ user: { id: 'eve', name: 'Eve' } }));
    }
    expect(await handler.authorize(state, granted)).toBe(task.id);
    await until(handler, task.id, 'COMPLETED');
    await handler.close();
  });

  it('works once, and only with the state', async () => {
    const { execute, seen } = createAskingAgent();
    const handler = createEngine(execute);
    const { task, state } = await startAndAsk(handler);
    expect(await handler.authorize(`${state.slice(1)}0`, granted)).toBeUndefined();
    expect(await handler.authorize('', granted)).toBeUndefined();
    const both = await Promise.all([handler.authorize(state, granted), handler.authorize(state, granted)]);
    expect(both.filter((one) => one === task.id)).toHaveLength(1);
    await until(handler, task.id, 'COMPLETED');
    expect(await handler.authorize(state, granted)).toBeUndefined();
    expect(seen).toHaveLength(1);
    await handler.close();
  });

  it('tells the agent that the caller refuses, or ends the task with that reason', async () => {
    const { execute } = createAskingAgent();
    const handler = createEngine(execute);
    const { task, state } = await startAndAsk(handler);
    expect(await handler.authorize(state, { kind: 'denied', reason: 'access_denied' })).toBe(task.id);
    await until(handler, task.id, 'FAILED');
    const { status } = await handler.getTask({ id: task.id }, ada);
    expect(textOf(status.message?.parts)).toBe('The authorization was refused.');
    await handler.close();
  });

  it('expires, and the link with it', async () => {
    const { execute } = createAskingAgent({ expiresInMs: 1 });
    const handler = createEngine(execute);
    const { task, state } = await startAndAsk(handler);
    await until(handler, task.id, 'FAILED');
    const { status } = await handler.getTask({ id: task.id }, ada);
    expect(textOf(status.message?.parts)).toBe('The authorization was not given in time.');
    expect(await handler.authorize(state, granted)).toBeUndefined();
    await handler.close();
  });

  it.each([60_000.5, 1e300])('may wait for %d ms, whatever the storage', async (expiresInMs) => {
    const { execute } = createAskingAgent({ expiresInMs });
    const handler = createEngine(execute, await files.open(clock));
    const { task, state } = await startAndAsk(handler);
    expect(await handler.authorize(state, granted)).toBe(task.id);
    await until(handler, task.id, 'COMPLETED');
    await handler.close();
  });

  it('gives way to a message of the caller, and the link is worth nothing then', async () => {
    const { execute, seen } = createAskingAgent();
    const handler = createEngine(execute);
    const { task, state } = await startAndAsk(handler);
    const again = await handler.sendMessage({ message: message({ messageId: 'm2', taskId: task.id }) }, ada);
    if (again.task === undefined) throw new Error('There is a task');
    expect(again.task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(await handler.authorize(state, granted)).toBeUndefined();
    const parts = [{ text: 'no, thanks' }];
    const last = await handler.sendMessage({ message: message({ messageId: 'm3', taskId: task.id, parts }) }, ada);
    expect(last.task?.status.state).toBe('TASK_STATE_REJECTED');
    expect(seen).toEqual([]);
    expect(handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
    await handler.close();
  });

  it('ends with a cancel', async () => {
    const { execute } = createAskingAgent();
    const handler = createEngine(execute);
    const { task, state } = await startAndAsk(handler);
    expect((await handler.cancelTask({ id: task.id }, ada)).status.state).toBe('TASK_STATE_CANCELED');
    expect(await handler.authorize(state, granted)).toBeUndefined();
    await handler.close();
  });

  it.each(['memory', 'sqlite'])(
    'resumes the task after a restart on %s: the agent runs again on the same message',
    async (store) => {
      const path = files.fresh();
      const memory = new MemoryStorage({ clock });
      const open = () => (store === 'memory' ? Promise.resolve(memory) : files.open(clock, { path }));
      const first = await open();
      const { execute, seen } = createAskingAgent();
      const one = createEngine(execute, first);
      const { task, state } = await startAndAsk(one);
      await one.close();
      if (store === 'sqlite') await first.close();
      const second = await open();
      const other = createEngine(execute, second);
      await other.start();
      expect(await stateOf(other, task.id)).toBe('TASK_STATE_AUTH_REQUIRED');
      const replies = await Promise.all([other.authorize(state, granted), other.authorize(state, granted)]);
      expect(replies.filter((id) => id === task.id)).toHaveLength(1);
      await until(other, task.id, 'COMPLETED');
      expect(seen).toEqual([['hi', 'ada', { code: SECRET }]]);
      const { history } = await other.getTask({ id: task.id }, ada);
      expect(history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(1);
      expect(await other.authorize(state, granted)).toBeUndefined();
      const scope = { agent: 'test', tenant: '', owner: 'ada' };
      const { records } = await second.records({ scope, id: task.id }, 0, 1e6);
      expect(JSON.stringify([records, await second.task(scope, task.id)])).not.toContain(SECRET);
      await other.close();
      await second.close();
    },
  );

  it('survives the end of the process before the agent has used it, encrypted, if there are keys', async () => {
    const path = files.fresh();
    const secrets = new SecretBox([randomBytes(32).toString('base64')]);
    const { execute, seen } = createAskingAgent();
    const first = await files.open(clock, { path });
    const one = createEngine(execute, first);
    const { task, state } = await startAndAsk(one);
    await one.close();
    const deaf = engine(() => new Promise(() => {}), { storage: first, clock, ids, secrets }).handler;
    expect(await deaf.authorize(state, granted)).toBe(task.id);
    await deaf.close();
    await first.close();
    expect(readFileSync(path).includes(SECRET)).toBe(false);
    const second = await files.open(clock, { path });
    const last = engine({ execute, resumable: true }, { storage: second, clock, ids, secrets }).handler;
    await last.start();
    await until(last, task.id, 'COMPLETED');
    expect(seen).toEqual([['hi', 'ada', { code: SECRET }]]);
    await last.close();
    await second.close();
  });

  it('is asked for again if the process ends before the agent has used it', async () => {
    const memory = new MemoryStorage({ clock });
    const { execute, seen } = createAskingAgent();
    const one = createEngine(execute, memory);
    const { task, state } = await startAndAsk(one);
    await one.close();
    const deaf = createEngine(() => new Promise(() => {}), memory);
    expect(await deaf.authorize(state, granted)).toBe(task.id);
    await deaf.close();
    const last = engine({ execute, resumable: true }, { storage: memory, clock, ids }).handler;
    await last.start();
    await until(last, task.id, 'AUTH_REQUIRED');
    await vi.waitFor(async () => {
      const { status } = await last.getTask({ id: task.id }, ada);
      const next = linkOf(status.message?.parts).searchParams.get('state') ?? '';
      expect(next).not.toBe(state);
      expect(await last.authorize(next, granted)).toBe(task.id);
    }, 15_000);
    await until(last, task.id, 'COMPLETED');
    expect(seen).toHaveLength(1);
    await last.close();
  });
});
