import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { openStorage } from '../../packages/parley/src/exports/storage.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';

// Three hundred pairs of requests on a disk that others use too.
vi.setConfig({ testTimeout: 120_000 });

const PAIRS = 300;
/** Tasks whose pairs are under way together. */
const TOGETHER = 30;

/** The library as it is built: only that can start the store's threads. */
const builtModule = (name: string) => new URL(`../../packages/parley/dist/exports/${name}.js`, import.meta.url).href;

interface Answer {
  readonly result?: { readonly id?: string; readonly status?: Status; readonly task?: { id: string; status: Status } };
  readonly error?: { readonly code: number };
}

interface Status {
  readonly state: string;
}

const UNSUPPORTED_OPERATION = -32004;

describe('a follow-up message and a cancel at the same time, over HTTP on SQLite', () => {
  let folder: string;
  let storage: TaskStorage;
  let server: ReturnType<typeof createA2AServer>;
  let address: string;
  const running = new Set<string>();
  let begun = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-cancels-'));
    const library = (await import(/* @vite-ignore */ builtModule('node'))) as {
      createA2AServer: typeof createA2AServer;
    };
    const stores = (await import(/* @vite-ignore */ builtModule('storage'))) as { openStorage: typeof openStorage };
    storage = await stores.openStorage(`sqlite:${join(folder, 'tasks.db')}`);
    server = library.createA2AServer({
      name: 'Asks',
      storage,
      agent: {
        async execute({ text, taskId, signal }, events) {
          if (text === 'ask') return events.inputRequired('and?');
          begun += 1;
          running.add(taskId);
          signal.addEventListener('abort', () => running.delete(taskId));
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      },
    });
    address = (await server.listen(0)).url;
  });

  afterAll(async () => {
    await server.close();
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function call(method: string, params: object): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return (await fetch(address, { method: 'POST', headers, body })).json() as Promise<Answer>;
  }

  function send(messageId: string, text: string, taskId?: string): Promise<Answer> {
    const message = { messageId, role: 'ROLE_USER', parts: [{ text }], ...(taskId && { taskId }) };
    return call('SendMessage', { message });
  }

  async function pair(at: number): Promise<{ readonly sent: string; readonly canceled: string }> {
    const taskId = (await send(`ask ${at}`, 'ask')).result?.task?.id ?? '';
    const sending = send(`go on ${at}`, 'go on', taskId);
    const [sent, canceled] = await Promise.all([sending, call('CancelTask', { id: taskId })]);
    const task = await call('GetTask', { id: taskId });
    expect(task.result?.status?.state).toBe('TASK_STATE_CANCELED');
    return {
      sent: sent.result?.task?.status.state ?? String(sent.error?.code),
      canceled: canceled.result?.status?.state ?? String(canceled.error?.code),
    };
  }

  it(`loses no cancel of ${PAIRS}: every agent is told to stop, and every caller has an answer`, async () => {
    const ends: { readonly sent: string; readonly canceled: string }[] = [];
    for (let at = 0; at < PAIRS; at += TOGETHER) {
      ends.push(...(await Promise.all(Array.from({ length: TOGETHER }, (_, index) => pair(at + index)))));
    }
    const kinds = new Set(ends.map(({ canceled }) => canceled));
    expect([...kinds]).toEqual(['TASK_STATE_CANCELED']);
    // A message that came after the cancel is refused, one that came before it shares the end of its task.
    const refused = ends.filter(({ sent }) => sent === String(UNSUPPORTED_OPERATION)).length;
    const ended = ends.filter(({ sent }) => sent === 'TASK_STATE_CANCELED').length;
    expect(refused + ended).toBe(PAIRS);
    expect(begun).toBeLessThanOrEqual(ended);
    expect([...running]).toEqual([]);
  });
});
