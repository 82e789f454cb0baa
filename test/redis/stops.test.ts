import { afterAll, expect, it } from 'vitest';
import { StoppedProcess } from '../stops/stopped-process.js';
import { RedisServer } from '../support/servers/redis-server.js';

const server = await RedisServer.start();
afterAll(() => server[Symbol.asyncDispose]());

it.each(['signal', 'authorization', 'queued'] as const)(
  'a process with a turn in the state %s shuts down cleanly on SIGTERM',
  async (state) => {
    const database = server.url;
    await using stopped = StoppedProcess.ofDocsSample({ database });
    await stopped.enter(state, stopped);
    expect(await stopped.stop()).toBe(0);
    expect(stopped.output).toMatch(/\naborted .*\n(.*\n)*closed\n/);
  },
);
