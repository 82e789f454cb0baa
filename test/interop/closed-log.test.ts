import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../../examples/agents/dist/main.js', import.meta.url));

it('a server outlives who reads its log, and stops when it is asked to', { timeout: 60_000 }, async () => {
  const env = { ...process.env, PORT: '0', DATABASE_URL: 'memory:' };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let url: string | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      url = /listening on (http:[^"]+)"/.exec(line)?.[1];
      if (url !== undefined) break;
    }
    child.stdout.destroy();
    for (let call = 0; call < 3; call++) expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/echo/.well-known/agent-card.json`)).status).toBe(200);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
