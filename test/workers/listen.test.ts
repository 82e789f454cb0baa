import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EmptyFolder, type RunningParley } from '../cli/parley.js';
import { childrenOf, processesOf } from '../support/workers.js';
import { CountingServer, expectWhole, listeningProgram, until } from './counting-server.js';

const folder = new EmptyFolder();
afterAll(() => folder[Symbol.dispose]());
let files = 0;
const newFile = () => `sqlite:${join(folder.path, String(files++), 'parley.db')}`;

const LONG = { timeout: 120_000 };

const DATABASES: readonly (readonly [name: string, newDatabase: () => string])[] = [
  ['SQLite', newFile],
  ['memory', () => 'memory:'],
  ['no storage', () => 'none'],
];

const isGone = (pid: number): boolean => {
  try {
    return process.kill(pid, 0) && false;
  } catch {
    return true;
  }
};

/** Prepares a module that each process loads first. */
function firstModule(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
}

// Each test has servers of its own, and none judges a time.
describe.concurrent('listen with workers', () => {
  it.each(DATABASES)(
    'with %s: both answer, each has the tasks of the other, and SIGTERM ends all',
    LONG,
    async (_, newDatabase) => {
      await using server = await CountingServer.startListening(newDatabase());
      const { running, url } = server;
      // The first process knows the address of its workers.
      expect(await running.waitForStdout(/^Card: (\S+)$/m)).toMatch(url);
      expect(await server.bothAnswer()).toEqual(new Set(server.pids.workers));
      const { id } = await server.count(3);
      // New connections go to the workers in turn.
      for (let call = 0; call < 4; call++) expect(await server.task(id)).toMatchObject({ id });
      expect(new Set([await server.sendRepeated(), await server.sendRepeated()]).size).toBe(1);
      const all = childrenOf(running.process.pid);
      expect(all).toHaveLength(3);
      expect(await running.stop()).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nclosed\n$/), stderr: '' });
      expect(all.every(isGone)).toBe(true);
    },
  );

  it.each(DATABASES.slice(0, 2))(
    'with %s: another worker goes on for one that is killed, and no event is lost',
    LONG,
    async (_, newDatabase) => {
      await using server = await CountingServer.startListening(newDatabase());
      const [victim = 0] = server.pids.workers;
      const tasks = [1, 2, 3, 4].map(() =>
        server.count(40, (frame) => frame.id === '10' && !isGone(victim) && process.kill(victim, 'SIGKILL')),
      );
      for (const seen of await Promise.all(tasks)) await expectWhole(server, seen, 40);
      await server.running.waitForStderr(
        new RegExp(`worker ${victim} ended with SIGKILL; another one starts in \\d+ ms`),
      );
      await until(() => server.pids.workers.length === 2);
    },
  );

  it('connections that wait for a worker end when it is killed', LONG, async () => {
    await using server = await CountingServer.startListening('none');
    const [victim = 0] = server.pids.workers;
    process.kill(victim, 'SIGSTOP');
    const calls = [1, 2].map(() => fetch(`${server.url}/healthz`, { headers: { connection: 'close' } }));
    expect((await Promise.race(calls)).status).toBe(200);
    process.kill(victim, 'SIGKILL');
    const ends = await Promise.allSettled(calls);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('a kill of the storage process, on SQLite: callers wait, and nothing is lost', LONG, async () => {
    await using server = await CountingServer.startListening(newFile());
    const { storage = 0 } = server.pids;
    const seen = await server.count(40, (frame) => frame.id === '10' && process.kill(storage, 'SIGKILL'));
    await expectWhole(server, seen, 40);
    expect(server.pids.storage).not.toBe(storage);
  });

  it('a kill of the storage process, in memory: the log tells the loss, and new tasks run', LONG, async () => {
    await using server = await CountingServer.startListening('none');
    const { id } = await server.count(1);
    process.kill(server.pids.storage as number, 'SIGKILL');
    await server.running.waitForStderr(/all tasks are lost: they were in the memory of the storage process/);
    await expectWhole(server, await server.count(3), 3);
    expect((await server.task(id)).error).toMatchObject({ status: 'NOT_FOUND' });
  });

  it('no process is left when the first one is killed', LONG, async () => {
    const server = await CountingServer.startListening(newFile());
    const all = childrenOf(server.running.process.pid);
    await server[Symbol.asyncDispose]();
    await until(() => all.every(isGone));
  });

  it('a kill of all on SQLite: the next start has the tasks', LONG, async () => {
    const database = newFile();
    const first = await CountingServer.startListening(database);
    const { id } = await first.count(3);
    const all = childrenOf(first.running.process.pid);
    for (const pid of [first.running.process.pid as number, ...all]) process.kill(pid, 'SIGKILL');
    await until(() => all.every(isGone));
    await using next = await CountingServer.startListening(database);
    expect(await next.task(id)).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('SIGUSR2 replaces the workers, one after the other', LONG, async () => {
    await using server = await CountingServer.startListening('none');
    const before = server.pids;
    const { id } = await server.count(1);
    server.running.process.kill('SIGUSR2');
    await until(() => before.workers.every(isGone) && server.pids.workers.length === 2);
    expect(server.pids.storage).toBe(before.storage);
    expect(await server.task(id)).toMatchObject({ id });
  });

  it('a worker runs the end of the program, and a program that does not end is ended', LONG, async () => {
    const ends = join(folder.path, 'ends');
    const module = firstModule(
      'timer.mjs',
      `import { appendFileSync } from 'node:fs';
import cluster from 'node:cluster';
if (cluster.isWorker) {
  setInterval(() => {}, 1_000);
  process.on('SIGTERM', () => appendFileSync(${JSON.stringify(ends)}, \`\${process.pid}\\n\`));
}
`,
    );
    await using server = await CountingServer.startListening('none', module);
    const { running } = server;
    const { workers } = server.pids;
    // Only the first process gets the signal.
    expect((await running.stop()).code).toBe(0);
    expect(readFileSync(ends, 'utf8').trim().split('\n').map(Number).sort()).toEqual([...workers].sort());
    expect(workers.every(isGone)).toBe(true);
  });

  it('workers get a SIGHUP that the program handles', LONG, async () => {
    const module = firstModule('hup.mjs', "process.on('SIGHUP', () => console.log('hup', process.pid));\n");
    await using server = await CountingServer.startListening('none', module);
    server.running.process.kill('SIGHUP');
    for (const pid of server.pids.workers) await server.running.waitForStdout(new RegExp(`hup ${pid}\n`));
  });

  it('max is one worker for each core', LONG, async () => {
    const running: RunningParley = listeningProgram('none', 'max');
    await using _ = running;
    await running.waitForStdout(/^URL: (\S+)$/m);
    const cores = availableParallelism();
    await until(() => processesOf(running).workers.length === (cores === 1 ? 0 : cores));
  });

  it('a program that throws in its workers: listen rejects, and the program ends', LONG, async () => {
    const module = firstModule(
      'throws.mjs',
      "import cluster from 'node:cluster';\nif (cluster.isWorker) throw new Error('no configuration');\n",
    );
    await using running = listeningProgram(newFile(), '2', module);
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('no configuration');
    expect(stderr).toContain('The first worker ended with 1 before it listened');
  });

  it('a taken port: listen rejects with the remedy, and a second attempt has workers', LONG, async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await using server = await CountingServer.startListening(newFile(), '', `${port},0`);
    taken.close();
    const remedy = 'another process has the port. Stop it, or listen on another port; port 0 is a free one';
    await server.running.waitForStderr(
      new RegExp(`^EADDRINUSE: Cannot listen on 127\\.0\\.0\\.1:${port} \\(EADDRINUSE\\): ${remedy}$`, 'm'),
    );
    await expectWhole(server, await server.count(3), 3);
    expect(server.pids.workers).toHaveLength(2);
  });

  it('a signal while the workers start: all end, and listen rejects', LONG, async () => {
    const gate = join(folder.path, 'gate');
    const module = firstModule(
      'slow-start.mjs',
      `import cluster from 'node:cluster';
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
if (cluster.isWorker) {
  console.log('starts');
  while (!existsSync(${JSON.stringify(gate)})) await setTimeout(10);
}
`,
    );
    await using running = listeningProgram(newFile(), '2', module);
    await running.waitForStdout(/^starts$/m);
    const all = childrenOf(running.process.pid);
    running.process.kill('SIGTERM');
    writeFileSync(gate, '');
    const { stdout, stderr } = await running.ended;
    expect({ stdout, stderr }).toEqual({
      stdout: 'starts\nclosed\n',
      stderr: expect.stringContaining('The server was closed before its workers listened'),
    });
    expect(all.every(isGone)).toBe(true);
  });
});

// On a busy machine a worker may live so long that its delay does not grow.
it('a worker that ends at once is started again after a growing delay, while the other one answers', LONG, async () => {
  const module = firstModule('ends.mjs', "if (process.env.WORKER_SLOT === '1') process.exit(3);\n");
  await using running = listeningProgram(newFile(), '2', module);
  const url = await running.waitForStdout(/^URL: (\S+)$/m);
  for (const delay of [100, 200, 400])
    await running.waitForStderr(new RegExp(`ended with code 3; another one starts in ${delay} ms`));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await running.stop()).code).toBe(0);
});
