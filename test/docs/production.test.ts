import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { parley } from '../cli/parley.js';
import { snippetsOf } from './snippets.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Inside the repository, so that imports find the built packages.
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache', 'production-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the server of the guide says at start where it listens and what protects it', { timeout: 60_000 }, async () => {
  const [server] = snippetsOf('docs/production.md', readFileSync(join(root, 'docs/production.md'), 'utf8'));
  writeFileSync(join(folder, 'server.ts'), server?.code ?? '');
  const keys = join(folder, 'keys.json');
  expect((await parley(['keys', 'create', 'ada', '--api-keys-file', keys])).code).toBe(0);
  const env = {
    PORT: '0',
    HOST: '0.0.0.0',
    DATABASE_URL: 'memory:',
    A2A_API_KEYS_FILE: keys,
    A2A_TRUST_PROXY: '10.0.0.0/8',
    A2A_RATE_LIMIT: '600/60s',
    A2A_PUSH_ALLOW: 'hooks.internal',
    A2A_PUBLIC_URL: 'https://agents.example.com',
  };
  const child = spawn(process.execPath, ['server.ts'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    const lines: Record<string, unknown>[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(JSON.parse(line));
      if (lines.at(-1)?.msg === 'serving https://agents.example.com') break;
    }
    expect(lines.at(-1)).toMatchObject({
      msg: 'serving https://agents.example.com',
      address: '0.0.0.0',
      port: expect.any(Number),
      authentication: 'apiKey',
      transport: 'plain HTTP, trusts proxies at 10.0.0.0/8',
      rateLimit: '600/60s per address, 600/60s per caller',
      pushTargets: 'public addresses, hooks.internal',
    });
  } finally {
    child.kill();
    await ended;
  }
});
