import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Caller, saysOf, stateOf } from './caller.js';
import { DatabaseFolder, ServerProcess } from './server-process.js';

// Processes that start and end, on machines that have other things to do.
vi.setConfig({ testTimeout: 60_000 });

const CANNOT_RESUME = 'The agent stopped while it worked on this task and cannot resume it.';
const EACH_TIME = 'The agent stopped each time it worked on this task.';

describe('an agent that takes its process with it', () => {
  let folder: DatabaseFolder;
  let server: ServerProcess;

  beforeEach(async () => {
    folder = new DatabaseFolder();
    server = await ServerProcess.start(folder.url);
  });
  afterEach(async () => {
    await server.kill();
    folder.remove();
  });

  async function restartServer(): Promise<string> {
    await server.exited;
    server = await ServerProcess.start(folder.url);
    return server.address;
  }

  async function waitUntilSettled(caller: Caller, id: string): Promise<[string, string]> {
    for (;;) {
      const task = await caller.task(id);
      if (!/WORKING|SUBMITTED/.test(stateOf(task))) return [stateOf(task), saysOf(task)];
    }
  }

  /**
   * Restarts the server until it stays up, like a supervisor. Returns the number of deaths, and the task that began
   * with a text.
   */
  async function untilItStays(agent: string, text: string) {
    await new Caller(await server.address, agent).send(text).catch(() => {});
    for (let deaths = 1; ; deaths += 1) {
      try {
        const caller = new Caller(await restartServer(), agent);
        const [id = ''] = await caller.begunWith(text);
        return { deaths, end: await waitUntilSettled(caller, id), task: await caller.task(id) };
      } catch (error) {
        if (deaths > 5) throw error;
      }
    }
  }

  it.each(['dies by process.exit', 'dies by process.abort', 'dies by SIGKILL'])(
    'one that %s: its task fails, those that wait go on waiting, those that can resume do, the rest is whole',
    async (name) => {
      const address = await server.address;
      const [bad, again, good] = ['bad', 'again', 'good'].map((agent) => new Caller(address, agent)) as [
        Caller,
        Caller,
        Caller,
      ];
      const done = await good.send('done');
      const asks = await bad.send('asks and goes on');
      const hangs = await bad.start('never settles, says it works');
      const resumes = await again.start('resumes');
      await expect.poll(async () => saysOf(await again.task(resumes.id)), { timeout: 15_000 }).toBe('attempt 1');
      await again.start('resumes', { taskId: resumes.id });
      await expect.poll(async () => stateOf(await bad.task(hangs.id)), { timeout: 15_000 }).toBe('WORKING');
      const deadly = bad.send(name).then(
        () => 'answered',
        () => 'cut off',
      );

      const next = await restartServer();
      expect(await deadly).toBe('cut off');
      const [bad2, again2, good2] = ['bad', 'again', 'good'].map((agent) => new Caller(next, agent)) as [
        Caller,
        Caller,
        Caller,
      ];
      expect(await good2.task(done.id)).toEqual(done);
      expect(await bad2.task(asks.id)).toEqual(asks);
      expect(await waitUntilSettled(bad2, hangs.id)).toEqual(['FAILED', CANNOT_RESUME]);
      const [killer = ''] = await bad2.begunWith(name);
      expect(await waitUntilSettled(bad2, killer)).toEqual(['FAILED', CANNOT_RESUME]);
      expect((await bad2.task(killer)).artifacts).toEqual([{ artifactId: 'a1', parts: [{ text: 'attempt 1' }] }]);
      // The second attempt asked for input, and the waiting message was the answer.
      const readAnswer = async () => saysOf(await again2.task(resumes.id));
      await expect.poll(readAnswer, { timeout: 15_000 }).toBe('answered');
      expect(await waitUntilSettled(again2, resumes.id)).toEqual(['COMPLETED', 'answered']);
      expect(stateOf(await good2.send('more'))).toBe('COMPLETED');
    },
  );

  it('one that can resume dies three times, then its task fails', async () => {
    const { deaths, end, task } = await untilItStays('again', 'dies by process.exit');
    expect([deaths, end]).toEqual([3, ['FAILED', EACH_TIME]]);
    expect(task.artifacts?.map(({ parts }) => parts[0]?.text)).toEqual(['attempt 1', 'attempt 2', 'attempt 3']);
  });

  it.each([
    ['once if it cannot resume', 'bad', 1, CANNOT_RESUME],
    ['three times if it can', 'again', 3, EACH_TIME],
  ])('one that dies before its first event is run %s', async (_name, agent, runs, says) => {
    const { deaths, end } = await untilItStays(agent, 'dies before its first event');
    expect([deaths, end]).toEqual([runs, ['FAILED', says]]);
  });

  it('one that dies each time uses up only its own attempts', async () => {
    const address = await server.address;
    const texts = ['takes its time', 'takes its time#2', 'takes its time#3'];
    const again = new Caller(address, 'again');
    for (const text of texts) await again.start(text);
    const late = new Caller(address, 'slow-again');
    await late.start('takes its time');
    const { deaths, end } = await untilItStays('again', 'dies before its first event');
    expect([deaths, end]).toEqual([3, ['FAILED', EACH_TIME]]);
    for (const [agent, text] of [...texts.map((text) => ['again', text]), ['slow-again', 'takes its time']]) {
      const caller = new Caller(await server.address, agent ?? '');
      const [id = ''] = await caller.begunWith(text ?? '');
      expect((await waitUntilSettled(caller, id))[0]).toBe('COMPLETED');
    }
  });

  it('one that is handed over in order keeps all its attempts', async () => {
    const { id } = await new Caller(await server.address, 'again').start('goes on for ever');
    for (let deploy = 1; deploy <= 4; deploy += 1) {
      const caller = new Caller(await server.address, 'again');
      await expect.poll(async () => saysOf(await caller.task(id)), { timeout: 15_000 }).toBe(`attempt ${deploy}`);
      await server.close();
      await server.kill();
      server = await ServerProcess.start(folder.url);
    }
    const caller = new Caller(await server.address, 'again');
    await expect.poll(async () => saysOf(await caller.task(id)), { timeout: 15_000 }).toBe('attempt 5');
    expect(stateOf(await caller.cancel(id))).toBe('CANCELED');
  });

  it('an error that nobody catches ends the process where that was asked for, and the task as a crash does', async () => {
    await server.close();
    await server.kill();
    server = await ServerProcess.start(folder.url, { uncaughtErrors: 'process' });
    const name = 'throws in a timer, where the process decides';
    await new Caller(await server.address, 'bad').send(name).catch(() => {});
    const dead = server;
    const caller = new Caller(await restartServer(), 'bad');
    expect((await dead.exited).code).toBe(1);
    expect(dead.stderr).toContain('nobody caught this');
    const [id = ''] = await caller.begunWith(name);
    expect(await waitUntilSettled(caller, id)).toEqual(['FAILED', CANNOT_RESUME]);
  });
});
