import { connect, type Task, textOf } from 'parley-a2a';
import { answerApprovals, toolApprovals } from 'parley-a2a/tools';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { KilledServer } from './killed-server.js';

const PATHS = ['shop', 'first', 'later', 'approved', 'beside'] as const;
type Path = (typeof PATHS)[number];
/** The runs of the tools of each agent when its process is killed: the last one is under way. */
const BEFORE: Readonly<Record<Path, readonly string[]>> = {
  shop: ['reserve', 'pay', 'print'],
  first: ['pay'],
  later: ['reserve', 'pay'],
  approved: ['pay'],
  beside: ['reserve', 'pay'],
};
const INTERRUPTED = 'pay: pay was interrupted, and must not run again. Its effect is not known.';

let server: KilledServer;
let url = '';
let contextOfDesk = '';
const tasks = new Map<Path, string>();
const clientOf = (path: string) => connect(`${url}/${path}`);
const runsOf = async (path: Path) =>
  (await server.runs()).flatMap((run) => (run.startsWith(`${path} `) ? [run.slice(path.length + 1)] : []));
const configuration = { returnImmediately: true };
async function approve(path: Path): Promise<void> {
  const client = await clientOf(path);
  const asked = await client.waitFor(tasks.get(path) ?? '');
  expect(toolApprovals(asked)).toMatchObject([{ tool: 'pay' }]);
  await client.sendMessage({ message: answerApprovals(asked, 'approve'), configuration });
}

beforeAll(async () => {
  server = await KilledServer.of('killed-openai-server.mjs');
  url = await server.start();
  await Promise.all(
    PATHS.map(async (path) => {
      const answer = await (await clientOf(path)).sendMessage({
        message: { parts: [{ text: 'Tickets' }] },
        configuration,
      });
      if (answer.task === undefined) throw new Error('no task');
      tasks.set(path, answer.task.id);
    }),
  );
  await Promise.all([approve('shop'), approve('approved')]);
  for (const path of PATHS)
    await vi.waitFor(async () => expect(await runsOf(path)).toEqual(BEFORE[path]), { timeout: 30_000 });
  // Results of calls before this conversation are stored when it ends.
  const told = await (await clientOf('desk')).ask('A hard question');
  if (told.task === undefined) throw new Error('no task');
  expect(textsOf(told.task)).toEqual(['I know.']);
  contextOfDesk = told.task.contextId ?? '';
  await server.kill();
  url = await server.start();
}, 90_000);
afterAll(() => server.remove());

const textsOf = ({ artifacts = [] }: Task) => artifacts.map((artifact) => textOf(artifact));
const waitForEnd = (path: Path) =>
  vi.waitFor(
    async (): Promise<Task> => {
      const task = await (await clientOf(path)).getTask(tasks.get(path) ?? '');
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      return task;
    },
    { timeout: 30_000, interval: 100 },
  );

describe('after SIGKILL, a run of the OpenAI Agents SDK', () => {
  it('goes on, and no tool of an ended step runs again. An idempotent tool that was under way does', async () => {
    // The lost text of the step that was under way is gone.
    expect(textsOf(await waitForEnd('shop'))).toEqual(['One.\n\nTwo.', 'Three.\n\nDone.']);
    expect(await runsOf('shop')).toEqual([...BEFORE.shop, 'print']);
  }, 60_000);

  it.each<[string, Path, string]>([
    ['in its first step', 'first', INTERRUPTED],
    ['in a later step', 'later', `reserve: reserve is done; ${INTERRUPTED}`],
    ['that the caller had approved', 'approved', INTERRUPTED],
    ['beside a call that had ended', 'beside', `reserve: reserve is done; ${INTERRUPTED}`],
  ])(
    'tells the model of a call %s, and does not run it again',
    async (_, path, told) => {
      expect(textsOf(await waitForEnd(path))).toEqual([told]);
      expect(await runsOf(path)).toEqual(BEFORE[path]);
    },
    60_000,
  );

  it('begins with the agent that a hand-off of the same context has reached', async () => {
    const client = await clientOf('desk');
    const next = await client.ask({ message: { contextId: contextOfDesk, parts: [{ text: 'And now?' }] } });
    expect(next.task !== undefined && textsOf(next.task)).toEqual(['Still I.']);
    const other = await client.ask('Another conversation');
    expect(other.task !== undefined && textsOf(other.task)).toEqual(['Desk again.']);
  });
});
