import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { textOf } from 'parley-a2a/client';
import { afterAll, describe, expect, it } from 'vitest';
import { snippetsOf } from '../docs/snippets.js';
import { HEADERS, RestartedServer, taskAfterTurn } from './restarted-server.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-counter-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The counter that a document shows, as a module. */
function counterOf(document: string): string {
  const path = fileURLToPath(new URL(`../../docs/${document}`, import.meta.url));
  const { code = '' } =
    snippetsOf(document, readFileSync(path, 'utf8')).find((one) => /\bcounter\b/.test(one.code)) ?? {};
  const counter = /^(?:export )?(const counter: .*?^};)$/ms.exec(code)?.[1] ?? '';
  const module = join(folder, `${document}.mts`);
  writeFileSync(module, `import type { AgentExecutor } from 'parley-a2a/server';\nexport ${counter}\n`);
  return module;
}

describe.each([
  ['testing.md', 3, '1 2 3 '],
  ['agents.md', 10, Array.from({ length: 10 }, (_, at) => `step ${at + 1}`).join('\n')],
])('the counter of %s', (document, steps, whole) => {
  it.concurrent.each([2, steps])(
    'counts right if its process is killed after event %i',
    { timeout: 60_000 },
    async (at) => {
      const server = new RestartedServer('counter-server.mjs');
      const database = `sqlite:${join(folder, `${document}-${at}.db`)}`;
      const module = counterOf(document);
      try {
        const url = await server.start(database, module, String(at));
        const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'count' }] };
        const body = JSON.stringify({ message, configuration: { returnImmediately: true } });
        await fetch(`${url}/message:send`, { method: 'POST', headers: HEADERS, body }).catch(() => {});
        await server.waitForExit();
        const task = await taskAfterTurn(await server.start(database, module, '0'));
        expect(task.status.state).toBe('TASK_STATE_COMPLETED');
        expect(textOf(task)).toBe(whole);
      } finally {
        await server.kill();
      }
    },
  );
});
