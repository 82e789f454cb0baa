import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Task } from 'parley-a2a';
import { afterEach, expect, it } from 'vitest';
import { HEADERS, RestartedServer, taskAfterTurn } from './restarted-server.js';

/** Writes between two deaths. */
const STRIDE = process.env.TEST_LONG ? 1 : 3;

const folders: string[] = [];
const server = new RestartedServer('langgraph-server.mjs');

afterEach(async () => {
  await server.kill();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Starts the server, which dies after its nth write to the disk of checkpoints. */
const start = (folder: string, dies = 0) => server.start(folder, String(dies));

/** Sends a message and waits for the task. If the server dies, another one starts and finishes the turn. */
async function turn(
  { folder, url }: { readonly folder: string; readonly url: string },
  message: object,
  before?: string,
): Promise<{ readonly url: string; readonly task: Task; readonly died: boolean }> {
  const body = JSON.stringify({ message: { role: 'ROLE_USER', ...message } });
  try {
    const response = await fetch(`${url}/message:send`, { method: 'POST', headers: HEADERS, body });
    return { url, died: false, task: ((await response.json()) as { task: Task }).task };
  } catch {
    const next = await start(folder);
    return { url: next, task: await taskAfterTurn(next, before), died: true };
  }
}

/** The texts of all artifacts. One that has lost its text to a crash may stay empty. */
const textsOf = ({ artifacts = [] }: Task) =>
  artifacts
    .map(({ parts }) => parts.map((part) => (part.text !== undefined ? part.text : '')).join(''))
    .filter((text) => text !== '')
    .sort();

it('a graph goes on from its last checkpoint, whichever write its process died after', {
  timeout: 600_000,
}, async () => {
  const deaths: number[] = [];
  for (let dies = 1, died = true; died; dies += STRIDE) {
    const folder = await mkdtemp(join(tmpdir(), 'parley-langgraph-'));
    folders.push(folder);
    const asked = await turn({ folder, url: await start(folder, dies) }, { messageId: 'm1', parts: [{ text: 'go' }] });
    expect(asked.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.task.status.message?.parts[0]).toEqual({ text: 'go on?' });
    const answer = { messageId: 'm2', taskId: asked.task.id, parts: [{ text: 'yes' }] };
    const done = await turn({ folder, url: asked.url }, answer, asked.task.status.state);
    expect([dies, done.task.status.state]).toEqual([dies, 'TASK_STATE_COMPLETED']);
    const texts = textsOf(done.task);
    expect(texts.at(-1)).toBe('two, 4 messages');
    expect(texts.slice(0, -1).join('\n\n')).toBe('one\n\none');
    died = asked.died || done.died;
    if (died) deaths.push(dies);
    await server.kill();
  }
  // Input, two nodes beside each other, their step, the question, the answer, its step, the last node, its step.
  expect(deaths.length).toBeGreaterThanOrEqual(Math.ceil(7 / STRIDE));
});
