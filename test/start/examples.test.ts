import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from 'parley-a2a';
import { expect, it, onTestFinished } from 'vitest';

const mainOf = (example: string) => fileURLToPath(new URL(`../../examples/${example}/dist/main.js`, import.meta.url));

/** Starts an example in an empty folder. Resolves to its url, and to a function that ends it as an operator does. */
async function startExample(example: string) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-example-'));
  const child = spawn(process.execPath, [mainOf(example)], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PORT: '0', MODEL: 'a-model', OPENAI_API_KEY: 'none' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const ended = once(child, 'exit') as Promise<[code: number | null]>;
  const listening = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /^Listening on (http:\S+)$/.exec(line)?.[1];
      if (url !== undefined) return url;
    }
    throw new Error(`${example} ended before it listened`);
  })();
  const stop = async () => {
    child.kill('SIGTERM');
    const [code] = await ended;
    return code;
  };
  return { url: await listening, stop };
}

it.each([
  ['ai-sdk', 'Assistant', undefined],
  ['openai-agents', 'Refunds', undefined],
  ['langgraph', 'Refunds', ['Refund 50 euros', 'TASK_STATE_INPUT_REQUIRED']],
  ['tools', 'Books', ['Ulysses', 'TASK_STATE_INPUT_REQUIRED']],
] as const)('the example %s starts in an empty folder, answers, and ends at SIGTERM', async (example, name, call) => {
  const { url, stop } = await startExample(example);
  const client = await connect(url);
  onTestFinished(() => client.close());
  expect(client.card.name).toBe(name);
  if (call !== undefined) {
    const [text, state] = call;
    expect(await client.sendMessage(text)).toMatchObject({ task: { status: { state } } });
  }
  expect(await stop()).toBe(0);
});
