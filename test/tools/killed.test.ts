import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect, type Task } from 'parley-a2a';
import { answerApprovals, toolApprovals, toolCalls } from 'parley-a2a/tools';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

let folder: string;
let child: ChildProcess | undefined;
const journal = () => join(folder, 'journal');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-tools-'));
});

afterAll(async () => {
  await kill();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the server; resolves to its address. */
async function start(port = '0'): Promise<string> {
  const server = fileURLToPath(new URL('killed-server.mjs', import.meta.url));
  const database = `sqlite:${join(folder, 'tasks.db')}`;
  child = spawn(process.execPath, [server, database, journal(), port], { stdio: ['ignore', 'pipe', 'inherit'] });
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

/** The runs of the tools so far, without the ids of processes. */
async function runs(): Promise<readonly string[]> {
  const text = await readFile(journal(), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/ \d+$/, '')]));
}

const answer = (task: Task) =>
  (task.status.message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join();

it('a finished call is not run again after SIGKILL, nor a running one that is not idempotent', async () => {
  const url = await start();
  const client = await connect(url);
  const started = await client.sendMessage({
    message: 'repeatable charge',
    configuration: { returnImmediately: true },
  });
  if (!('task' in started)) throw new Error('no task');
  const asked = await client.sendAndWait('paid');
  if (!('task' in asked)) throw new Error('no task');
  expect(toolApprovals(asked.task)).toMatchObject([{ tool: 'paid', input: 'two' }]);
  const before = ['charge 1.3', 'quick 1.1', 'quick 1.1', 'repeatable 1.2'];
  await vi.waitFor(async () => expect([...(await runs())].sort()).toEqual(before), { timeout: 15_000 });
  await kill();

  const port = new URL(url).port;
  const again = await connect(await start(port));
  await vi.waitFor(
    async () => {
      const task = await again.getTask(started.task.id);
      expect([task.status.state, answer(task)]).toEqual([
        'TASK_STATE_COMPLETED',
        'quick of one, repeatable of two, interrupted',
      ]);
      const states = toolCalls(task).map(({ tool, state }) => `${tool} ${state}`);
      expect(states.sort()).toEqual(['charge failed', 'quick succeeded', 'repeatable succeeded']);
    },
    { timeout: 30_000, interval: 100 },
  );
  // The question has survived. Its answer runs the call, and no other one.
  const done = await again.sendAndWait({ message: answerApprovals(await again.getTask(asked.task.id), 'approve') });
  if (!('task' in done)) throw new Error('no task');
  expect(answer(done.task)).toBe('quick of one, quick of two');
  expect([...(await runs())].sort()).toEqual([...before, 'quick 1.2', 'repeatable 1.2'].sort());
  await kill();
}, 90_000);
