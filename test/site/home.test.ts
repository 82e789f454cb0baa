import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { freePort } from '../support/servers/free-port.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, `.cache/home-${process.pid}`);
const [agent = '', command = '', output = '', program = ''] = Array.from(
  readFileSync(join(root, 'site/home.md'), 'utf8').matchAll(/^```\w+\n(.*?)^```$/gms),
  ([, code]) => code ?? '',
).sort((one, other) => Number(other.includes('createA2AServer')) - Number(one.includes('createA2AServer')));

let server: ChildProcess;
let port: number;

beforeAll(async () => {
  port = await freePort();
  mkdirSync(folder, { recursive: true });
  server = spawn(process.execPath, [fileOf('agent', agent)], { stdio: 'inherit' });
  await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`), { timeout: 30_000 });
});
afterAll(() => {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** Inside the repository, so that imports of packages are found. */
function fileOf(name: string, code: string): string {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, code.replace('8080', `${port}`));
  return file;
}

it('the agent of the first page has 11 lines', () => {
  expect(agent.trimEnd().split('\n')).toHaveLength(11);
});

it('the command calls it, and prints what the page says', async () => {
  const [, address = '', text = ''] = /^npx parley send -a (\S+) "(.*)"$/m.exec(command) ?? [];
  const parley = join(root, 'packages/cli/bin/parley.js');
  const args = [parley, 'send', '-a', address.replace('8080', `${port}`), text];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toContain(output.trimEnd());
});

it('the program calls it', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [fileOf('program', program)]);
  expect(stdout.trim()).toBe('HELLO WORLD');
});
