import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { AgentExecutor } from '../../packages/parley/src/exports/server.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

/** An agent that makes as many kB as the caller says, in pieces of 1 kB, and then asks for more. */
const agent: AgentExecutor = {
  async execute({ text }, events) {
    await events.working();
    const id = await events.artifact('begin');
    for (let kilobyte = 0; kilobyte < Number(text); kilobyte++) await events.append(id, 'x'.repeat(1_000));
    await events.inputRequired('How many now?');
  },
};

interface ListedTask {
  readonly id: string;
  readonly history?: readonly { readonly parts: readonly { readonly text: string }[] }[];
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly object[] } };
}

interface Listed {
  readonly tasks: readonly ListedTask[];
  readonly nextPageToken: string;
  readonly totalSize: number;
}

async function serveAgent(limits: object, kind: 'memory' | 'sqlite') {
  const storage = kind === 'memory' ? new MemoryStorage({ clock: systemClock }) : await files.open(systemClock);
  onTestFinished(() => storage.close());
  const server = createA2AServer({ agent, limits, storage } as unknown as A2AServerOptions);
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const call = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return ((await response.json()) as { result: Record<string, unknown> }).result;
  };
  const send = async (text: string, more: object = {}) => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more };
    return (await call('SendMessage', { message })).task as ListedTask;
  };
  const list = async (params: object = {}) => (await call('ListTasks', params)) as unknown as Listed;
  /** The ids of each page. */
  const pages = async (params: object) => {
    const all: string[][] = [];
    let pageToken = '';
    do {
      const page = await list({ ...params, ...(pageToken !== '' && { pageToken }) });
      all.push(page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    return all;
  };
  return { call, send, list, pages };
}

describe.each(['memory', 'sqlite'] as const)('on %s', (storage) => {
  it('a list shows so many messages of each history as `listedHistory` says, the newest, unless the call says', async () => {
    const { send, list } = await serveAgent({ listedHistory: 2 }, storage);
    const { id: taskId } = await send('0');
    for (const text of ['00', '000', '0000']) await send(text, { taskId });
    const listTexts = async (params?: object) => {
      const [{ history = [] } = {} as ListedTask] = (await list(params)).tasks;
      return history.flatMap(({ parts }) => parts.map(({ text }) => text));
    };
    const whole = await listTexts({ historyLength: 100 });
    expect(whole.filter((text) => /^0+$/.test(text))).toEqual(['0', '00', '000', '0000']);
    expect(await listTexts()).toEqual(whole.slice(-2));
    expect(await listTexts({ historyLength: 0 })).toEqual([]);
    expect(await listTexts({ historyLength: 3 })).toEqual(whole.slice(-3));
  });

  it('a page of a list ends at `pageBytes`, and the next ones have the rest, each task once', async () => {
    const { send, pages } = await serveAgent({ pageBytes: 50_000 }, storage);
    const ids: string[] = [];
    for (let task = 0; task < 6; task++) ids.push((await send('20')).id);
    const found = await pages({ includeArtifacts: true });
    expect(found.flat().toSorted()).toEqual(ids.toSorted());
    expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(3);
  });

  it('a page has at least one task, however large that is', async () => {
    const { send, pages } = await serveAgent({ pageBytes: 1_000 }, storage);
    for (let task = 0; task < 3; task++) await send('20');
    expect((await pages({ includeArtifacts: true })).map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  it('a task beyond `taskBytes` fails, keeps what it had, and says so', async () => {
    const { send, call } = await serveAgent({ taskBytes: 30_000 }, storage);
    expect((await send('20')).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const failed = await send('100');
    expect(failed.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(failed.status.message?.parts)).toContain('more than a task can hold');
    const kept = JSON.stringify(await call('GetTask', { id: failed.id }));
    expect(kept.length).toBeGreaterThan(15_000);
    expect(kept.length).toBeLessThan(40_000);
  });

  it('counts `taskBytes` over all turns of a task', async () => {
    const { send } = await serveAgent({ taskBytes: 30_000 }, storage);
    const { id: taskId } = await send('20');
    expect((await send('20', { taskId })).status.state).toBe('TASK_STATE_FAILED');
  });
});
