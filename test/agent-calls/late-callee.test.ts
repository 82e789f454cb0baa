import { type StreamResponse, textOf } from 'parley-a2a';
import type { CallOutcome } from 'parley-a2a/client';
import { MemoryStorage, systemClock } from 'parley-a2a/server';
import { describe, expect, it, vi } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { Agents, executor, taskOf } from './world.js';

const QUICK = { resume: { firstMs: 20, longestMs: 50, attempts: 100 } };
const WAITS = 'another agent cannot be reached, trying again';

const waits = (agents: Agents) =>
  vi.waitFor(() => expect(agents.logger.lines.map(({ message }) => message)).toContain(WAITS), 10_000);
const callTo = (url: string) =>
  executor(
    async (context, events) => {
      const answer = taskOf(await context.callAgent(url, 'go'));
      await events.complete(`${context.attempt} ${answer.status.message && textOf(answer.status.message)}`);
    },
    { resumable: true },
  );

describe.concurrent('a callee that cannot be reached yet', () => {
  it('is called once it can be, and the log says so', async () => {
    await using agents = new Agents();
    const port = await freePort();
    const { client } = await agents.listen(callTo(`http://127.0.0.1:${port}`), {}, QUICK);
    const answer = client.ask('go');
    await waits(agents);
    let runs = 0;
    await agents.listen(
      executor((_, events) => events.complete(`run ${++runs}`)),
      { port },
    );
    const { message } = taskOf(await answer).status;
    expect(message && textOf(message)).toBe('1 run 1');
    const [line] = agents.logger.lines.filter((one) => one.message === WAITS);
    expect(line).toMatchObject({ level: 'warn', fields: { attempt: 1, attempts: 100, taskId: expect.any(String) } });
  });

  it('gets the message of a joint restart once, and its task goes on for the caller', async () => {
    await using agents = new Agents();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const finish = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const storage = () => new MemoryStorage({ clock: systemClock });
    const [ofCaller, ofCallee] = [storage(), storage()];
    const options = { storage: ofCallee, port, idempotency: { anonymous: true } };
    const callee = executor(
      async (_, events) => {
        begun.resolve();
        await events.working();
        await finish.promise;
        await events.complete('done');
      },
      { resumable: true },
    );
    const firstCallee = await agents.listen(callee, options);
    const firstCaller = await agents.listen(callTo(url), { storage: ofCaller }, QUICK);
    await firstCaller.client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
    await begun.promise;
    await firstCaller.server.close({ graceMs: 0 });
    await firstCallee.server.close({ graceMs: 0 });
    const { client } = await agents.listen(callTo(url), { storage: ofCaller }, QUICK);
    const [task] = (await client.listTasks()).tasks;
    const done = client.waitFor(task?.id ?? '');
    await waits(agents);
    const second = await agents.listen(callee, options);
    finish.resolve();
    const { message } = (await done).status;
    expect(message && textOf(message)).toBe('2 done');
    expect((await second.client.listTasks()).tasks).toHaveLength(1);
  });

  it('gets the message once, if it ends between its card and the message', async () => {
    await using agents = new Agents();
    const port = await freePort();
    const callee = executor((_, events) => events.complete('done'));
    const options = { port, idempotency: { anonymous: true } };
    const first = await agents.listen(callee, options);
    const { client } = await agents.listen(
      callTo(`http://127.0.0.1:${port}`),
      {},
      {
        ...QUICK,
        interceptors: () => [
          (call, next) => {
            if (call.operation !== 'sendStreamingMessage') return next(call);
            return (async function* () {
              await first.server.close({ graceMs: 0 });
              yield* next(call) as AsyncIterable<StreamResponse>;
            })() as CallOutcome;
          },
        ],
      },
    );
    const answer = client.ask('go');
    await waits(agents);
    const { client: observer } = await agents.listen(callee, options);
    const { message } = taskOf(await answer).status;
    expect(message && textOf(message)).toBe('1 done');
    expect((await observer.listTasks()).tasks).toHaveLength(1);
  });

  it('fails the call after the attempts', async () => {
    await using agents = new Agents();
    const port = await freePort();
    const failed = Promise.withResolvers<unknown>();
    const { client } = await agents.listen(
      executor(async (context, events) => {
        await Promise.resolve(context.callAgent(`http://127.0.0.1:${port}`, 'go')).catch(failed.resolve);
        await events.complete();
      }),
      {},
      { resume: { attempts: 2, firstMs: 1, longestMs: 2 } },
    );
    await client.ask('go');
    expect(await failed.promise).toMatchObject({ name: 'ConnectionError', code: 'UNAVAILABLE' });
    expect(agents.logger.lines.filter((one) => one.message === WAITS)).toHaveLength(2);
  });

  it('holds no task that is canceled, and no call beyond its time', async () => {
    await using agents = new Agents();
    const port = await freePort();
    const ends: string[] = [];
    const { client } = await agents.listen(
      executor(async (context, events) => {
        const isShort = context.text === 'short';
        const call = context.callAgent(`http://127.0.0.1:${port}`, 'go', { timeoutMs: isShort ? 100 : 60_000 });
        if (!isShort) await call;
        await Promise.resolve(call).catch((error: Error) => ends.push(error.name));
        await events.complete();
      }),
      {},
      QUICK,
    );
    await client.ask('short');
    expect(ends).toEqual(['AgentCallError']);
    const begun = await client.sendMessage({ message: 'long', configuration: { returnImmediately: true } });
    const canceled = await client.cancelTask(taskOf(begun).id);
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
  });
});

it.each([
  ['target', [undefined, 'go']],
  ['target', [{}, 'go']],
  ['target', [7, 'go']],
  ['message', ['http://127.0.0.1:1', undefined]],
  ['message', ['http://127.0.0.1:1', {}]],
])('a call names its argument that is wrong: %s', async (name, args) => {
  await using agents = new Agents();
  const thrown: unknown[] = [];
  const { client } = await agents.listen(
    executor(async (context, events) => {
      try {
        await context.callAgent(...(args as [string, string]));
      } catch (error) {
        thrown.push(error);
      }
      await events.complete();
    }),
  );
  await client.ask('go');
  expect(thrown).toEqual([
    expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(`callAgent: ${name} `) }),
  ]);
});
