import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { EmptyFolder, RunningParley } from '../cli/parley.js';
import { processesOf } from '../support/workers.js';
import { CountingServer, expectWhole, numbersOf, type Seen, until, upTo } from './counting-server.js';

const folder = new EmptyFolder();
afterAll(() => folder[Symbol.dispose]());
let files = 0;
const newFile = () => `sqlite:${join(folder.path, String(files++), 'parley.db')}`;

/** Kills of the chaos, and the tasks that run at the same time. */
const KILLS = process.env.TEST_LONG === undefined ? 5 : 50;
const CALLERS = 6;
/** Each kill of this number is one of a worker. */
const WORKER_EACH = 12;

const PATIENCE = { timeout: 30_000 };

/** Kills the worker of a turn. Resolves to the ms that the next twenty events take longer than the twenty before. */
async function measureTakeover(database: string): Promise<number> {
  await using server = await CountingServer.start(database);
  const [worker] = server.pids.workers;
  const at: Record<string, number> = {};
  // The process that runs the turn has the connection too, or not: both are killed in the end.
  const seen = await server.count(100, ({ id }) => {
    if (id === undefined || id in at) return;
    at[id] = performance.now();
    if (id === '21' && worker !== undefined) process.kill(worker, 'SIGKILL');
  });
  await expectWhole(server, seen, 100);
  const [first = Number.NaN, killed = Number.NaN, after = Number.NaN] = [at['1'], at['21'], at['41']];
  return after - killed - (killed - first);
}

describe('kills of the processes of parley serve --workers', () => {
  it.each([
    ['SQLite', newFile],
    ['memory', () => 'memory:'],
  ])(
    'a worker, with %s: another one goes on within a second, and no event is lost',
    { timeout: 120_000 },
    async (_, database) => {
      // Other work of the machine can only lengthen a takeover.
      let takeoverMs = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < 3 && takeoverMs >= 1_000; attempt++)
        takeoverMs = Math.min(takeoverMs, await measureTakeover(database()));
      expect(takeoverMs).toBeLessThan(1_000);
    },
  );

  it('a worker and the storage process at once, on SQLite: others go on before any lease ends', {
    timeout: 120_000,
  }, async () => {
    await using server = await CountingServer.start(newFile());
    const started: PromiseWithResolvers<void>[] = [];
    const counted = Array.from({ length: 4 }, () => {
      const reached = Promise.withResolvers<void>();
      started.push(reached);
      return server.count(60, (frame) => frame.id === '10' && reached.resolve());
    });
    await Promise.all(started.map(({ promise }) => promise));
    const { workers, storage } = server.pids;
    const killedAt = performance.now();
    for (const pid of [storage, workers[0]]) process.kill(pid as number, 'SIGKILL');
    for (const seen of await Promise.all(counted)) await expectWhole(server, seen, 60);
    // A lease takes 15 s, and its last renewal is 5 s old at most.
    expect(performance.now() - killedAt).toBeLessThan(10_000);
  });
});

// No test of these judges a time, and the first one mostly waits.
describe.concurrent('kills and reloads of servers beside each other', () => {
  it('a reload whose worker does not listen: the others stay, and a line says so', { timeout: 120_000 }, async ({
    expect,
  }) => {
    const [module, starts] = [join(folder.path, 'hangs.mjs'), join(folder.path, 'starts')];
    // Each start of a worker takes a line. The third one never listens.
    writeFileSync(
      module,
      `import { appendFileSync, readFileSync } from 'node:fs';
const starts = ${JSON.stringify(starts)};
appendFileSync(starts, '\\n');
if (readFileSync(starts, 'utf8').length > 2) await new Promise(() => setInterval(() => {}, 1_000));
export const agent = (prompt) => prompt;
`,
    );
    const args = ['serve', module, '--workers', '2', '--port', '0', '--database', 'memory:'];
    await using running = new RunningParley(args, { env: { NODE_OPTIONS: '' } });
    const url = await running.waitForStdout(/^URL: (\S+)$/m);
    const answers = async () => (await fetch(`${url}/readyz`, { headers: { connection: 'close' } })).status === 200;
    await until(async () => readFileSync(starts).length === 2 && (await answers()));
    const { workers } = processesOf(running);
    running.process.kill('SIGUSR2');
    await running.waitForStderr(/worker \d+ did not listen within 30 s: (the others stay)/);
    await until(() => processesOf(running).workers.length === 2);
    expect(processesOf(running).workers).toEqual(workers);
    expect([await answers(), await answers()]).toEqual([true, true]);
  });

  it('the storage process, in memory: the log tells the loss, and new tasks run', { timeout: 120_000 }, async ({
    expect,
  }) => {
    await using server = await CountingServer.start('memory:');
    const { id } = await server.count(1);
    const { storage } = server.pids;
    process.kill(storage as number, 'SIGKILL');
    await server.running.waitForStderr(/(all tasks are lost: they were in the memory of the storage process)/);
    const next = await server.count(3);
    await expectWhole(server, next, 3);
    expect((await server.task(id)).error).toMatchObject({ status: 'NOT_FOUND' });
  });

  it('all processes: the next command goes on with what they had', { timeout: 120_000 }, async ({ expect }) => {
    const database = newFile();
    const first = await CountingServer.start(database);
    const reached = Promise.withResolvers<string>();
    let id = '';
    const counting = first.count(100, (frame) => {
      id ||= String((frame.data.task as { id?: string } | undefined)?.id ?? '');
      if (frame.id === '20') reached.resolve(id);
    });
    // Its server is killed.
    counting.catch(() => {});
    await reached.promise;
    const { workers, storage } = first.pids;
    for (const pid of [first.running.process.pid, storage, ...workers]) process.kill(pid as number, 'SIGKILL');
    await first.running.ended;
    await using next = await CountingServer.start(database);
    await until(async () => numbersOf(await next.task(id)).length === 100);
    expect(numbersOf(await next.task(id))).toEqual(upTo(100));
  });

  it('a reload under load refuses no connection, and replaces all workers', { timeout: 120_000 }, async ({
    expect,
  }) => {
    await using server = await CountingServer.start(newFile());
    const before = server.pids;
    let isOver = false;
    let answers = 0;
    const callers = Array.from({ length: 4 }, async () => {
      for (; !isOver; answers++) await server.countAnswering();
    });
    const counting = server.count(100);
    // With a slow disk, one reload sees only a few calls.
    let replaced = 0;
    for (let old = before.workers; answers <= 20; old = server.pids.workers) {
      server.running.process.kill('SIGUSR2');
      for (const worker of old) await server.running.waitForStderr(new RegExp(`has replaced worker ${worker}\\b`));
      replaced += old.length;
    }
    isOver = true;
    await Promise.all(callers);
    await expectWhole(server, await counting, 100);
    // A caller whose turn goes to another process has to ask again.
    expect(server.repeats).toBeLessThanOrEqual(callers.length * replaced);
    const { workers, storage } = server.pids;
    expect(storage).toBe(before.storage);
    expect(workers).toHaveLength(2);
    expect(workers.filter((pid) => before.workers.includes(pid))).toEqual([]);
  });

  it(`the storage process or a worker, ${KILLS} times, on SQLite: callers wait, and nothing is lost`, {
    timeout: 600_000,
  }, async ({ expect }) => {
    await using server = await CountingServer.start(newFile());
    let isOver = false;
    const tasks: Seen[] = [];
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!isOver) tasks.push(await server.count(15));
    });
    for (let kill = 1; kill <= KILLS; kill++) {
      const isWorker = kill % WORKER_EACH === 3;
      const counted = tasks.length;
      const victim = await vi.waitUntil(() => (isWorker ? server.pids.workers[0] : server.pids.storage), PATIENCE);
      process.kill(victim, 'SIGKILL');
      await until(() => server.pids.storage !== undefined && server.pids.storage !== victim);
      await until(() => tasks.length > counted);
    }
    isOver = true;
    await Promise.all(callers);
    expect(tasks.length).toBeGreaterThanOrEqual(KILLS);
    for (const task of tasks) await expectWhole(server, task, 15);
  });
});
