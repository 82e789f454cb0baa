import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const parley = join(root, 'packages/cli/bin/parley.js');
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** One code block of the tutorial. The word after its language tells how a reader uses it. */
interface Step {
  readonly line: number;
  readonly language: string;
  readonly use: string;
  readonly code: string;
  /** The output that the tutorial shows for it, line by line. */
  readonly shown: readonly string[] | undefined;
}

// Inside the repository, so that imports find the built packages.
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache', 'tutorial-'));
let server: ChildProcess | undefined;
afterAll(async () => {
  await stopServer();
  rmSync(folder, { recursive: true, force: true });
});

function stepsOf(markdown: string): Step[] {
  const blocks = Array.from(markdown.matchAll(/^```(\w+) ?([^\n]*)\n(.*?)^```$/gms), (block) => ({
    line: markdown.slice(0, block.index).split('\n').length,
    language: block[1] ?? '',
    use: block[2] ?? '',
    code: block[3] ?? '',
  }));
  return blocks.flatMap((block, index) => {
    if (block.language === 'text') return [];
    const next = blocks[index + 1];
    return [{ ...block, shown: next?.language === 'text' ? next.code.trimEnd().split('\n') : undefined }];
  });
}

it('the tutorial can be followed literally', { timeout: 120_000 }, async () => {
  const port = String(await freePort());
  const ids = new Map<string, string>();
  const mine = (text: string) => text.replaceAll('8080', port).replace(ID, (id) => ids.get(id) ?? id);
  for (const { line, language, use, code, shown } of stepsOf(readFileSync(join(root, 'docs/tutorial.md'), 'utf8'))) {
    const command = mine(code.trim());
    if (language === 'js') writeFileSync(join(folder, use), mine(code));
    else if (use === 'install') expect(command, `line ${line}`).toMatch(/^npm (?:run pack$|init --yes\nnpm install )/);
    else if (use === 'serve') {
      const output = await startServer(command);
      if (shown !== undefined) compare({ shown, output, ids, mine, line });
    } else {
      expect(shown, `line ${line} shows its output`).toBeDefined();
      const call = start(command);
      const interruption = /^interrupted "(.*)"$/.exec(use)?.[1];
      if (interruption === undefined) expect(use, `line ${line}`).toBe('run');
      else {
        await call.shows(interruption);
        await startServer('node agent.mjs');
      }
      compare({ shown: shown ?? [], output: await call.ended(), ids, mine, line });
    }
  }
});

/** Compares an output with the shown one. A line `…` stands for any lines; ids differ, but consistently. */
function compare({
  shown,
  output,
  ids,
  mine,
  line,
}: {
  shown: readonly string[];
  output: string;
  ids: Map<string, string>;
  mine: (text: string) => string;
  line: number;
}): void {
  const lines = output.trimEnd().split('\n');
  let at = 0;
  let skips = false;
  for (const wanted of shown) {
    if (wanted === '…') {
      skips = true;
      continue;
    }
    const found = lines.findIndex((candidate, index) => index >= at && matches({ wanted, candidate, ids, mine }));
    const expected = skips ? found : at;
    expect(found >= 0 && found === expected, `line ${line}: ${JSON.stringify(wanted)} is not in\n${output}`).toBe(true);
    at = found + 1;
    skips = false;
  }
  if (!skips) expect(lines.slice(at), `line ${line}: the output goes on`).toEqual([]);
}

function matches({
  wanted,
  candidate,
  ids,
  mine,
}: {
  wanted: string;
  candidate: string;
  ids: Map<string, string>;
  mine: (text: string) => string;
}): boolean {
  const [theirs, ours] = [wanted.match(ID) ?? [], candidate.match(ID) ?? []];
  if (wanted.replace(ID, 'id') !== candidate.replace(ID, 'id').replaceAll(mine('8080'), '8080')) return false;
  for (const [index, id] of theirs.entries()) ids.set(id, ids.get(id) ?? ours[index] ?? id);
  return theirs.every((id, index) => ids.get(id) === ours[index]);
}

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
    async ended(): Promise<string> {
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free port');
  return address.port;
}
