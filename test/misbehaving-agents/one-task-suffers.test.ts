import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { afterwards, endings, failures, garbage, type Misbehaviour, odd } from './agents/all.mjs';
import { Caller, saysOf, stateOf } from './caller.js';
import { Neighbour } from './neighbour.js';
import { DatabaseFolder, ServerProcess } from './server-process.js';

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

describe.each([
  ['memory', 'memory:'],
  ['SQLite', folder.url],
])('on %s, only the task suffers of an agent that', (_storage, database) => {
  let server: ServerProcess;
  let address: string;
  let neighbour: Neighbour;

  beforeAll(async () => {
    server = await ServerProcess.start(database);
    address = await server.address;
    neighbour = new Neighbour(address);
  });
  afterAll(async () => {
    try {
      await neighbour.stop();
      expect((await server.close()).listeners).toBe(0);
      expect(server.stderr).toBe('');
    } finally {
      await server.kill();
    }
  });

  /** Callers see the same over both bindings, and the log has one line about it. */
  async function suffers(
    name: string,
    { state, says }: Misbehaviour,
    { lines = 1, agent = 'bad' } = {},
  ): Promise<void> {
    const caller = new Caller(address, agent);
    const answered = await caller.send(name);
    expect([stateOf(answered), saysOf(answered)]).toEqual([state, says]);
    const { taskId, states } = await caller.stream(name);
    expect([states[0], states.at(-1)]).toEqual(['SUBMITTED', state]);
    for (const id of [answered.id, taskId]) {
      const task = await caller.task(id);
      expect([stateOf(task), saysOf(task)]).toEqual([state, says]);
      await expect.poll(() => countLogs(id), { timeout: 10_000, interval: 5 }).toBe(lines);
    }
  }

  const countLogs = (id: string) => server.logs.filter(({ fields }) => fields.taskId === id).length;

  it.each(Object.entries(garbage))('%s', (name, misbehaviour) => suffers(name, misbehaviour));
  it.each(Object.entries(failures))('%s', (name, misbehaviour) => suffers(name, misbehaviour));
  it.each(Object.entries(afterwards))('%s', (name, misbehaviour) => suffers(name, misbehaviour));
  it.each(Object.entries(endings))('%s', (name, misbehaviour) =>
    suffers(name, misbehaviour, { lines: misbehaviour.lines ?? (misbehaviour.state === 'FAILED' ? 1 : 0) }),
  );

  it.each(Object.entries({ ...garbage, ...failures }).filter((_, index) => index % 5 === 0))(
    'decides first whether its answer is a task, and %s',
    (name, misbehaviour) => suffers(name, misbehaviour, { agent: 'either' }),
  );

  it.each(Object.entries(odd))('nothing suffers of: %s', async (name, { shown }) => {
    const task = await new Caller(address, 'bad').send(`odd: ${name}`);
    expect(stateOf(task)).toBe('COMPLETED');
    expect(task.artifacts).toEqual([
      { artifactId: 'a', metadata: { odd: shown }, parts: [{ data: shown, metadata: { odd: shown } }] },
    ]);
  });
});
