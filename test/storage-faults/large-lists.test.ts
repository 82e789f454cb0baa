import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { ListTasksResponse } from '../../packages/parley/src/model/task-requests.js';
import { Caller, taskOf } from './calls.js';
import { ServerProcess } from './server-process.js';
import { openFile } from './whole-file.js';

vi.setConfig({ testTimeout: 180_000 });

const CHARACTERS = 9_000_000;
/** All of them are more than the memory of the server may grow by. */
const TASKS_IN_FILE = process.env.TEST_LONG === undefined ? 16 : 40;

/** All tasks of a list, page by page. */
async function listAll(page: (pageToken: string) => Promise<unknown>, total: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const { tasks, nextPageToken, totalSize } = (await page(token)) as ListTasksResponse;
    expect(totalSize).toBe(total);
    for (const { id, artifacts } of tasks) {
      const [part] = artifacts?.[0]?.parts ?? [];
      expect(part !== undefined && part.text !== undefined ? part.text.length : 0).toBe(CHARACTERS);
      ids.push(id);
    }
    token = nextPageToken || undefined;
  }
  return ids;
}

/** Fills a file with finished tasks of 9 MB; their ids, newest first. */
async function filledFile(path: string): Promise<readonly string[]> {
  const storage = await openFile(path);
  const ids: string[] = [];
  for (let at = 0; at < TASKS_IN_FILE; at += 1) {
    const status = { state: 'TASK_STATE_COMPLETED' as const, timestamp: new Date(at).toISOString() };
    const artifacts = [{ artifactId: 'large', parts: [{ text: 'x'.repeat(CHARACTERS) }] }];
    await storage.create({ agent: '/', tenant: '', owner: null }, { id: `t${at}`, contextId: 'c', status, artifacts });
    ids.unshift(`t${at}`);
  }
  await storage.close();
  return ids;
}

it.each(['SQLite', 'memory'])(
  'a list of tasks of 9 MB takes little more memory than one of them, and loses none (%s)',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
    const path = kind === 'memory' ? 'memory:' : join(folder, 'tasks.db');
    try {
      const made = kind === 'memory' ? [] : [...(await filledFile(path))];
      // The next page must not need the remains of the one before: with a large heap they are collected late.
      await using server = await ServerProcess.start(path, { heapMiB: kind === 'memory' ? 166 : 64 });
      const caller = new Caller(server.addresses);
      while (made.length < 10) made.unshift(taskOf(await caller.send(`large ${CHARACTERS}`)).id);
      await caller.task(made[0] ?? '');
      const count = made.length;
      const growth = await server.growthDuring(async () => {
        const rpc = (pageToken: string) =>
          caller.call('ListTasks', { pageSize: 100, includeArtifacts: true, pageToken });
        expect(await listAll(async (token) => (await rpc(token)).body.result, count)).toEqual(made);
        const rest = (pageToken: string) =>
          caller.get(`/tasks?pageSize=100&includeArtifacts=true&pageToken=${pageToken}`);
        expect(await listAll(async (token) => (await rest(token)).body, count)).toEqual(made);
      });
      expect(growth).toBeLessThan(100);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
