import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Invocation } from '../command-line/invocation.js';
import { type ListenPlace, portOf, untilListening } from './listening.js';
import { moduleFile } from './module-agent.js';

/**
 * Serves a module in a process that Node.js restarts after each change of a file that the module imports. Without a
 * database, the tasks are in a temporary SQLite file until the command ends.
 */
export async function serveWatched({ settings }: Invocation, path: string): Promise<number> {
  // Checked here, because Node.js would wait for a missing file.
  moduleFile(path);
  const place = { port: portOf(settings.text('port')), host: settings.text('host') ?? '127.0.0.1' };
  // Otherwise each restart would choose another port.
  const port = place.port === 0 ? await freePort(place) : place.port;
  const isKept = (settings.text('database') ?? process.env.DATABASE_URL) !== undefined;
  const folder = isKept ? undefined : mkdtempSync(join(tmpdir(), 'parley-watch-'));
  try {
    const [, program = '', ...argv] = process.argv;
    const isReplaced = (word: string, before = '') => /^--(?:watch|port)(?:=|$)/.test(word) || before === '--port';
    const args = argv.filter((word, index) => !isReplaced(word, argv[index - 1]));
    const database = folder === undefined ? {} : { DATABASE_URL: `sqlite:${join(folder, 'tasks.db')}` };
    const node = [...process.execArgv, '--watch', '--watch-preserve-output'];
    const child = spawn(process.execPath, [...node, program, ...args, '--port', String(port)], {
      stdio: 'inherit',
      env: { ...process.env, ...database },
    });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function freePort(place: ListenPlace): Promise<number> {
  const server = createServer().listen(place.port, place.host);
  await untilListening(once(server, 'listening'), place);
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : place.port;
}
