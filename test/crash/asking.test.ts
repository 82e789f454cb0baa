import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { freePort } from '../support/servers/free-port.js';

const SECRET = 'planted-code-4711';
let folder: string;
let port: number;
let child: ChildProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-asking-'));
  port = await freePort();
});

afterEach(kill);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Starts the server, always on the same port; resolves to its address. */
async function start(limits: object = {}): Promise<string> {
  const server = fileURLToPath(new URL('asking-server.mjs', import.meta.url));
  const database = `sqlite:${join(folder, 'tasks.db')}`;
  child = spawn(process.execPath, [server, database, String(port), JSON.stringify(limits)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('no output to read');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the server did not start');
}

async function kill(): Promise<void> {
  const killed = child;
  child = undefined;
  if (killed === undefined || killed.exitCode !== null) return;
  await new Promise<void>((resolve) => {
    killed.once('exit', () => resolve());
    killed.kill('SIGKILL');
  });
}

interface Task {
  readonly id: string;
  readonly status: {
    readonly state: string;
    readonly timestamp: string;
    readonly message?: { readonly parts: readonly Part[] };
  };
  readonly history?: readonly { readonly role: string }[];
  readonly artifacts?: readonly { readonly parts: readonly Part[] }[];
}
interface Part {
  readonly text?: string;
  readonly data?: { readonly authorization: { readonly url: string } };
}

async function call<T>(url: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${url}/a2a/rest${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
}

async function send(url: string, text: string, taskId?: string): Promise<Task> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...(taskId && { taskId }) };
  return (await call<{ task: Task }>(url, '/message:send', { message })).task;
}

it('tasks that wait for input and for an authorization survive SIGKILL, and go on (Spec §7.6)', async () => {
  const first = await start();
  const asks = await send(first, 'ask');
  const logsIn = await send(first, 'log in');
  expect([asks, logsIn].map(({ status }) => status.state)).toEqual([
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_AUTH_REQUIRED',
  ]);
  const link = logsIn.status.message?.parts.find(({ data }) => data !== undefined)?.data?.authorization.url ?? '';
  expect(link).toContain(`${first}/a2a/authorizations?state=`);
  await kill();

  const url = await start();
  const states = await Promise.all([asks, logsIn].map(({ id }) => call<Task>(url, `/tasks/${id}`)));
  expect(states.map(({ status }) => status.state)).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']);

  expect((await send(url, 'go on', asks.id)).status).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
  // A program that looks at the link does not use it up.
  expect((await fetch(link)).status).toBe(400);
  const answers = await Promise.all([1, 2, 3].map(() => fetch(`${link}&code=${SECRET}`)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
  const answer = answers.find(({ ok }) => ok);
  expect(answer?.headers.get('cache-control')).toBe('no-store');
  await vi.waitFor(async () => {
    const { status, history } = await call<Task>(url, `/tasks/${logsIn.id}`);
    expect(status.state).toBe('TASK_STATE_COMPLETED');
    expect(status.message?.parts[0]?.text).toBe(`got a credential of ${SECRET.length} characters`);
    expect(history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(1);
  }, 15_000);
  expect((await fetch(`${link}&code=${SECRET}`)).status).toBe(404);
  await kill();
  for (const name of await readdir(folder)) {
    expect((await readFile(join(folder, name))).includes(SECRET), name).toBe(false);
  }
}, 60_000);

it.each([
  ['while no process runs', true],
  ['after the restart', false],
])(
  'an authorization whose time ends %s fails its task once the server is back (Spec §7.6)',
  async (_, isLate) => {
    const limits = { waitingExpiryMs: 4_000, expiryCheckMs: 500 };
    const first = await start(limits);
    const asked = Date.now();
    const tasks = [await send(first, 'log in within 4000 ms'), await send(first, 'sign in elsewhere')];
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']);
    const link = tasks[0]?.status.message?.parts.find(({ data }) => data !== undefined)?.data?.authorization.url ?? '';
    await kill();
    if (isLate) await vi.waitFor(() => expect(Date.now() - asked).toBeGreaterThan(5_000), { timeout: 20_000 });

    const url = await start(limits);
    const ends = await Promise.all(
      tasks.map(({ id }) =>
        vi.waitFor(
          async () => {
            const { status } = await call<Task>(url, `/tasks/${id}`);
            expect(status.state).toBe('TASK_STATE_FAILED');
            expect(Date.parse(status.timestamp) - asked).toBeGreaterThanOrEqual(4_000);
            return status.message?.parts[0]?.text;
          },
          { timeout: 40_000, interval: 100 },
        ),
      ),
    );
    expect(ends).toEqual(['The authorization was not given in time.', 'The task waited too long and has expired.']);
    expect((await fetch(`${link}&code=${SECRET}`)).status).toBe(404);
    await kill();
  },
  90_000,
);

/** The link in the question of a task. */
const linkOf = ({ status }: Task) =>
  status.message?.parts.find(({ data }) => data !== undefined)?.data?.authorization.url ?? '';
const KEYS = { secretKeys: ['0123456789abcdef'.repeat(4)] };

it.each([
  ['the agent has the credential', false],
  ['the task still waits for the credential', true],
])(
  'the caller authorizes once, if the process is killed while %s (Spec §7.6)',
  async (_, isKilledBefore) => {
    const first = await start(KEYS);
    const ends = isKilledBefore ? 3 : 2;
    const task = await send(first, `log in, then stall until attempt ${ends}`);
    const texts = async () => {
      const { artifacts = [] } = await call<Task>(first, `/tasks/${task.id}`);
      return artifacts.flatMap(({ parts }) => parts.map(({ text }) => text));
    };
    if (isKilledBefore) {
      await kill();
      await start(KEYS);
    }
    const link = linkOf(task);
    expect((await fetch(`${link}&code=${SECRET}`)).status).toBe(200);
    const stalled = `stalls in attempt ${ends - 1}`;
    await vi.waitFor(async () => expect(await texts()).toEqual([stalled]), { timeout: 10_000, interval: 50 });
    await kill();
    await start(KEYS);
    await vi.waitFor(
      async () => {
        const { status } = await call<Task>(first, `/tasks/${task.id}`);
        expect(status.message?.parts[0]?.text).toBe(`attempt ${ends} with a checkpoint, codes of ${SECRET.length}`);
      },
      { timeout: 10_000, interval: 50 },
    );
    expect((await fetch(`${link}&code=${SECRET}`)).status).toBe(404);
    await kill();
    for (const name of await readdir(folder))
      expect((await readFile(join(folder, name))).includes(SECRET), name).toBe(false);
  },
  60_000,
);

it('each question gets its own answer again, if the process is killed after two (Spec §7.6)', async () => {
  const url = await start(KEYS);
  const { id } = await send(url, 'log in, then stall until attempt 2, after a second login');
  const look = () => call<Task>(url, `/tasks/${id}`);
  const waitForQuestion = (text: string) =>
    vi.waitFor(
      async () => {
        const task = await look();
        expect([task.status.state, task.status.message?.parts[0]?.text]).toEqual(['TASK_STATE_AUTH_REQUIRED', text]);
        return linkOf(task);
      },
      { timeout: 10_000, interval: 50 },
    );
  expect((await fetch(`${await waitForQuestion('First')}&code=${SECRET}`)).status).toBe(200);
  expect((await fetch(`${await waitForQuestion('Second')}&code=12`)).status).toBe(200);
  await vi.waitFor(async () => expect((await look()).artifacts).toHaveLength(1), { timeout: 10_000, interval: 50 });
  await kill();
  await start(KEYS);
  await vi.waitFor(
    async () => {
      const text = (await look()).status.message?.parts[0]?.text;
      expect(text).toBe(`attempt 2 with a checkpoint, codes of ${SECRET.length},2`);
    },
    { timeout: 10_000, interval: 50 },
  );
  await kill();
}, 60_000);
