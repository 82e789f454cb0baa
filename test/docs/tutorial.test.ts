import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { Reader, stepsOf } from './steps.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const parley = join(root, 'packages/cli/bin/parley.js');
// Inside the repository, so that imports find the built packages.
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache', 'tutorial-'));
let server: ChildProcess | undefined;
afterAll(async () => {
  await stopServer();
  rmSync(folder, { recursive: true, force: true });
});

it('the tutorial can be followed literally', { timeout: 120_000 }, async () => {
  const port = String(await freePort());
  const reader = new Reader(port);
  for (const step of stepsOf(readFileSync(join(root, 'docs/tutorial.md'), 'utf8'))) {
    const { line, language, use, code, shown } = step;
    const command = reader.mine(code.trim());
    if (language === 'js') writeFileSync(join(folder, use), reader.mine(code));
    else if (use === 'install') expect(command, `line ${line}`).toMatch(/^npm (?:run pack$|init --yes\nnpm install )/);
    else if (use === 'serve') {
      const output = await startServer(command);
      if (shown !== undefined) reader.compare(step, output);
    } else {
      expect(shown, `line ${line} shows its output`).toBeDefined();
      const call = start(command);
      const interruption = /^interrupted "(.*)"$/.exec(use)?.[1];
      if (interruption === undefined) expect(use, `line ${line}`).toBe('run');
      else {
        await call.shows(interruption);
        await startServer('node agent.mjs');
      }
      reader.compare(step, await call.waitForEnd());
    }
  }
});

/** Starts a command of the tutorial in its folder, with this Node.js and the built tool. */
function start(command: string) {
  const words = command.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? [];
  const [program, ...rest] = words;
  const args = program === 'node' ? rest : [parley, ...rest.slice(1)];
  expect([program, program === 'npx' ? rest[0] : 'parley']).toEqual([
    expect.stringMatching(/^(?:node|npx)$/),
    'parley',
  ]);
  const { PATH } = process.env;
  const child = spawn(process.execPath, args, { cwd: folder, env: { PATH, HOME: folder }, stdio: 'pipe' });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const closed = once(child, 'close');
  return {
    child,
    async shows(text: string): Promise<string> {
      while (!output.includes(text)) {
        const event = await Promise.race([once(child.stdout, 'data'), closed.then(() => 'closed')]);
        if (event === 'closed' && !output.includes(text))
          throw new Error(`${command} ended without ${text}: ${errors}`);
      }
      return output;
    },
    async waitForEnd(): Promise<string> {
      const [code] = (await closed) as [number | null];
      expect(code, `${command}: ${errors}`).toBe(0);
      return output;
    },
  };
}

/** Ends the running server as Ctrl-C does, and starts the next one. */
async function startServer(command: string): Promise<string> {
  await stopServer();
  const started = start(command);
  server = started.child;
  return started.shows('\n');
}

async function stopServer(): Promise<void> {
  if (server === undefined || server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGINT');
  await ended;
}
