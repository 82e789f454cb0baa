import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Task } from 'parley-a2a';
import { afterEach, expect, it, vi } from 'vitest';

const folders: string[] = [];
let child: ChildProcess | undefined;

afterEach(async () => {
  await kill();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Starts the server, which dies after its nth write to the disk of checkpoints. Resolves to its address. */
async function start(folder: string, dies = 0): Promise<string> {
  const server = fileURLToPath(new URL('langgraph-server.mjs', import.meta.url));
  child = spawn(process.execPath, [server, folder, String(dies)], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (!child.stdout) throw new Error('no output to read');
  for await (const line of createInterface({ input: child.stdout })) return `${line}/a2a/rest`;
  throw new Error('the server did not start');
}

async function kill(): Promise<void> {
  const killed = child;
  child = undefined;
  if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    killed.once('exit', () => resolve());
    killed.kill('SIGKILL');
  });
}

const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };

/** Sends a message and waits for the task. If the server dies, another one starts and finishes the turn. */
async function turn(
  { folder, url }: { readonly folder: string; readonly url: string },
  message: object,
): Promise<{ readonly url: string; readonly task: Task; readonly died: boolean }> {
  const body = JSON.stringify({ message: { role: 'ROLE_USER', ...message } });
  try {
    const response = await fetch(`${url}/message:send`, { method: 'POST', headers, body });
    return { url, died: false, task: ((await response.json()) as { task: Task }).task };
  } catch {
    const next = await start(folder);
    const task = await vi.waitFor(
      async () => {
        const query = 'includeArtifacts=true&historyLength=10';
        const { tasks } = (await (await fetch(`${next}/tasks?${query}`, { headers })).json()) as { tasks: Task[] };
        const found = tasks[0];
        if (found === undefined || /SUBMITTED|WORKING/.test(found.status.state)) throw new Error('not yet');
        return found;
      },
      { timeout: 30_000, interval: 50 },
    );
    return { url: next, task, died: true };
  }
}

/** The texts of all artifacts. One that has lost its text to a crash may stay empty. */
const textsOf = ({ artifacts = [] }: Task) =>
  artifacts
    .map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join(''))
    .filter((text) => text !== '')
    .sort();

it('a graph goes on from its last checkpoint, whichever write its process died after', {
  timeout: 600_000,
}, async () => {
  const deaths: number[] = [];
  for (let dies = 1, died = true; died; dies += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'parley-langgraph-'));
    folders.push(folder);
    const asked = await turn({ folder, url: await start(folder, dies) }, { messageId: 'm1', parts: [{ text: 'go' }] });
    expect(asked.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.task.status.message?.parts[0]).toEqual({ text: 'go on?' });
    const answer = { messageId: 'm2', taskId: asked.task.id, parts: [{ text: 'yes' }] };
    const done = await turn({ folder, url: asked.url }, answer);
    expect([dies, done.task.status.state]).toEqual([dies, 'TASK_STATE_COMPLETED']);
    const texts = textsOf(done.task);
    expect(texts.at(-1)).toBe('two, 4 messages');
    expect(texts.slice(0, -1).join('\n\n')).toBe('one\n\none');
    died = asked.died || done.died;
    if (died) deaths.push(dies);
    await kill();
  }
  // Input, two nodes beside each other, their step, the question, the answer, its step, the last node, its step.
  expect(deaths.length).toBeGreaterThanOrEqual(7);
});
