import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Task } from 'parley-a2a';
import { toolCalls } from 'parley-a2a/tools';
import { afterEach, expect, it } from 'vitest';
import { HEADERS, RestartedServer, taskAfterTurn } from './restarted-server.js';

/** Three words in each of three steps, and two moments in each of two calls. */
const MOMENTS = 13;
/** In the short form the process dies at each fourth moment, among them one of each call. */
const STRIDE = process.env.TEST_LONG ? 1 : 4;

const folders: string[] = [];
const server = new RestartedServer('ai-sdk-server.mjs');

afterEach(async () => {
  await server.kill();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Starts the server, which dies at its nth moment. */
const start = (folder: string, kind: string, dies = 0) => server.start(folder, kind, String(dies));

/** Sends a message and waits for the task. If the server dies, another one starts and finishes the turn. */
async function turn(folder: string, kind: string, dies: number): Promise<{ task: Task; died: boolean }> {
  const url = await start(folder, kind, dies);
  const body = JSON.stringify({ message: { role: 'ROLE_USER', messageId: 'm1', parts: [{ text: 'go' }] } });
  try {
    const response = await fetch(`${url}/message:send`, { method: 'POST', headers: HEADERS, body });
    return { died: false, task: ((await response.json()) as { task: Task }).task };
  } catch {
    const next = await start(folder, kind);
    return { died: true, task: await taskAfterTurn(next) };
  }
}

const textOf = ({ artifacts = [] }: Task): string =>
  artifacts
    .filter(({ name }) => name === 'response')
    .map(({ parts }) => parts.map((part) => (part.text !== undefined ? part.text : '')).join(''))
    .join('|');

it.each(['registry', 'sdk'])(
  'an answer with tools of a %s goes on after its last step, whenever its process died',
  {
    timeout: 600_000,
  },
  async (kind) => {
    let deaths = 0;
    let interrupted = 0;
    for (let dies = 1, died = true; died; dies += STRIDE) {
      const folder = await mkdtemp(join(tmpdir(), 'parley-ai-sdk-'));
      folders.push(folder);
      const done = await turn(folder, kind, dies);
      expect([dies, done.task.status.state]).toEqual([dies, 'TASK_STATE_COMPLETED']);
      const calls = toolCalls(done.task);
      const states = calls.map(({ state, failure }) => failure?.reason ?? state);
      expect([dies, calls.map(({ input }) => input)]).toEqual([dies, [{ night: 1 }, { night: 2 }]]);
      // A tool never runs twice. One that was interrupted has failed, and the model is told so.
      const effects = (await readFile(join(folder, 'effects'), 'utf8')).trim().split('\n');
      expect([dies, new Set(effects).size]).toEqual([dies, effects.length]);
      const booked = [1, 2].filter((_, at) => states[at] === 'succeeded');
      for (const night of booked) expect(effects).toContain(String(night));
      if (states.includes('interrupted')) interrupted += 1;
      // The text of a step that was cut off disappears.
      const text = textOf(done.task);
      expect([dies, text.endsWith(`Done: ${booked.join('+')}, 2 calls.`)]).toEqual([dies, true]);
      expect(text.match(/Step 0\./g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(text.replace(/Step \d\.|Done: [^,]*, 2 calls\./g, '').trim()).toBe('');
      died = done.died;
      if (died) deaths += 1;
      else expect(text).toBe('Step 0.\n\nStep 1.\n\nDone: 1+2, 2 calls.');
      await server.kill();
    }
    expect(deaths).toBe(Math.ceil(MOMENTS / STRIDE));
    expect(interrupted).toBeGreaterThan(0);
  },
);
