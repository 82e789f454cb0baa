import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Task } from 'parley-a2a';
import { answerApprovals, toolApprovals, toolCalls } from 'parley-a2a/tools';
import { afterEach, expect, it } from 'vitest';
import { HEADERS, RestartedServer, taskAfterTurn } from './restarted-server.js';

const folders: string[] = [];
const server = new RestartedServer('ai-sdk-server.mjs');

afterEach(async () => {
  await server.kill();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-ai-sdk-'));
  folders.push(folder);
  return folder;
}

async function send(url: string, message: object): Promise<Task> {
  const body = JSON.stringify({ message: { role: 'ROLE_USER', messageId: crypto.randomUUID(), ...message } });
  const response = await fetch(`${url}/message:send`, { method: 'POST', headers: HEADERS, body });
  return ((await response.json()) as { task: Task }).task;
}

/** The folder of a task that asked for an approval before its server was killed, and the task. */
async function askForApproval(kind: string): Promise<{ folder: string; task: Task }> {
  const folder = await newFolder();
  const task = await send(await server.start(folder, kind), { parts: [{ text: 'go' }] });
  await server.kill();
  return { folder, task };
}

/** The task after its approval. If the server dies at its nth moment, another one starts and finishes the turn. */
async function approveCopy({ folder, task }: Awaited<ReturnType<typeof askForApproval>>, kind: string, dies: number) {
  const copy = await newFolder();
  await cp(folder, copy, { recursive: true });
  const url = await server.start(copy, kind, String(dies));
  const answer = await send(url, answerApprovals(task, 'approve')).catch(() => undefined);
  const done = answer ?? (await taskAfterTurn(await server.start(copy, kind), task.status.state));
  await server.kill();
  const effects = await readFile(join(copy, 'effects'), 'utf8').catch(() => '');
  const [call] = toolCalls(done);
  return {
    died: answer === undefined,
    state: done.status.state.replace('TASK_STATE_', ''),
    call: call?.failure?.reason ?? call?.state,
    ran: effects.length / 2,
    text: JSON.stringify(done),
  };
}

/** The moments of a turn with an approval: it begins, the tool begins, the tool has had its effect, each of 3 words. */
const DEATHS = [0, 1, 2, 3, 4, 5, 6];
const SHORT: Readonly<Record<string, readonly number[]>> = {
  'sdk-approval': [1, 3, 4],
  'registry-approval': [3],
  'throwing-approval': [4],
};

it.each([
  // The effect of an approved call of the AI SDK is not known, so its task ends, and the call with it.
  ['sdk-approval', ['FAILED', 'aborted', 0], ['FAILED', 'aborted', 1], ['COMPLETED', 'succeeded', 1]],
  // A registry tells the model that its call was interrupted.
  [
    'registry-approval',
    ['COMPLETED', 'interrupted', 0],
    ['COMPLETED', 'interrupted', 1],
    ['COMPLETED', 'succeeded', 1],
  ],
  ['throwing-approval', ['FAILED', 'aborted', 0], ['FAILED', 'aborted', 1], ['COMPLETED', 'threw', 1]],
])(
  'an approved call of %s runs once at most, whenever the process died',
  { timeout: 300_000 },
  async (kind, ...ends) => {
    const waiting = await askForApproval(kind);
    expect(waiting.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(toolApprovals(waiting.task)).toMatchObject([{ tool: 'book', input: { night: 1 } }]);
    const [, , after] = ends;
    const expected = [after, after, ...ends, after, after];
    for (const dies of process.env.TEST_LONG ? DEATHS : (SHORT[kind] ?? DEATHS)) {
      const { died, state, call, ran, text } = await approveCopy(waiting, kind, dies);
      expect([dies, died, state, call, ran]).toEqual([dies, dies > 0, ...(expected[dies] ?? [])]);
      expect(text).not.toContain('pl4nted-s3cret');
    }
  },
);
