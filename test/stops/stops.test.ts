import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EmptyFolder } from '../cli/parley.js';
import { STATES, StoppedProcess } from './stopped-process.js';

// The thread of SQLite needs compiled code.
const built = new URL('../../packages/parley/dist/exports/storage.js', import.meta.url).href;
const { openStorage } = (await import(built)) as typeof import('../../packages/parley/src/exports/storage.js');

const folder = new EmptyFolder();
afterAll(() => folder[Symbol.dispose]());
let databases = 0;

function newFile(): string {
  databases += 1;
  return join(folder.path, `${databases}.db`);
}

/** Another agent, whose answer never comes. */
const other = StoppedProcess.ofDocsSample({ database: 'memory:' });
afterAll(() => other[Symbol.asyncDispose]());

/** The claims of the next process on a file: the turns that were left to it. */
async function claimsIn(path: string) {
  const storage = await openStorage(`sqlite:${path}`);
  const { claims } = await storage.claim({ node: 'next', leaseMs: 1_000, agents: ['/', 'agent'], limit: 10 });
  await storage.close();
  return claims.map(({ attempt, handOvers }) => ({ attempt, handOvers }));
}

describe.concurrent('a server that is asked to stop while a turn', () => {
  it.each(
    STATES.flatMap(([name, state, isAborted]) =>
      (
        [
          ['memory', false],
          ['SQLite', false],
          ['SQLite', true],
        ] as const
      ).map(([storage, hasTimer]) => ({ name, state, isAborted, storage, hasTimer })),
    ),
  )('$name ends in order: $storage, other timers: $hasTimer', async (given) => {
    const { state, isAborted, storage, hasTimer } = given;
    const path = newFile();
    const database = storage === 'memory' ? 'memory:' : `sqlite:${path}`;
    await using server = StoppedProcess.ofDocsSample({ database, hasTimer });
    await server.enter(state, other);
    expect(await server.stop()).toBe(0);
    expect(server.output).toContain('\nclosed\n');
    expect(server.output.includes('\naborted')).toBe(isAborted);
    expect(existsSync(`${path}-wal`)).toBe(false);
    if (storage === 'memory') return;
    const claims = await claimsIn(path);
    expect(claims).toEqual(state === 'input' ? [] : [{ attempt: 2, handOvers: 1 }]);
  });
});

describe.concurrent('parley serve', () => {
  it.each(STATES)('ends with 0 if a turn %s', async (_name, state) => {
    await using server = StoppedProcess.ofServeCommand({ database: `sqlite:${newFile()}` });
    await server.enter(state, other);
    expect([await server.stop(), server.errors]).toEqual([0, expect.not.stringContaining('unsettled')]);
  });

  it('ends with 0 right after a refused body of 10 MiB and 1 byte', async () => {
    await using server = StoppedProcess.ofServeCommand({ database: 'memory:' });
    expect(await server.sendBytes(10_485_761)).toBe(413);
    expect([await server.stop(), server.errors]).toEqual([0, expect.not.stringContaining('unsettled')]);
  });
});
