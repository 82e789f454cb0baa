import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareForeignPeer } from '../run/foreign-peers.js';
import { CHUNKS } from '../workloads.js';

const PARLEY = fileURLToPath(new URL('../../../packages/cli/bin/parley.js', import.meta.url));
const AGENT = fileURLToPath(new URL('served-agent.js', import.meta.url));
const CLUSTERED = fileURLToPath(new URL('clustered.js', import.meta.url));

/** A row of the table: a server and the kind of its answers. */
export interface Row {
  readonly title: string;
  readonly kind: 'call' | 'task';
  /** `parley serve` with its database, or a server beside it. */
  readonly server: 'memory' | 'sqlite' | 'go' | 'peer' | 'ceiling';
}

/** A server to start: of a row, with so many workers. 0 is a single process without the option. */
export interface Serving extends Row {
  readonly workers: number;
  /** Of the SQLite file. */
  readonly folder: string;
  /** Cores of the server and all its processes; `undefined` for all of the machine. */
  readonly cores: readonly number[] | undefined;
}

/** The reason why a row cannot be measured on this machine, or `undefined`. */
export async function missingFor({ server }: Row): Promise<string | undefined> {
  if (server !== 'go') return undefined;
  const prepared = await prepareForeignPeer('go');
  return 'missing' in prepared ? prepared.missing : undefined;
}

/** Starts a server, works with it, and stops it. */
export async function withServed<T>(
  serving: Serving,
  work: (server: { readonly port: number; readonly pid: number }) => Promise<T>,
): Promise<T> {
  const { kind, workers, cores } = serving;
  const pinned = cores === undefined ? [] : ['taskset', '-c', cores.join(',')];
  const [command = '', ...args] = [...pinned, ...(await commandOf(serving))];
  // Go has as many threads as the others have processes.
  const env = { ...process.env, NODE_ENV: 'production', BENCH_KIND: kind, GOMAXPROCS: String(Math.max(1, workers)) };
  // The server in Go ends when its stdin does.
  const server = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    return await work({ port: await portOf(server.stdout), pid: Number(server.pid) });
  } finally {
    const ended = server.exitCode === null ? once(server, 'exit') : undefined;
    server.kill('SIGTERM');
    await ended;
  }
}

async function commandOf({ server, kind, workers, folder }: Serving): Promise<readonly string[]> {
  if (server === 'go') {
    const prepared = await prepareForeignPeer('go');
    if ('missing' in prepared) throw new Error(prepared.missing);
    return [...prepared.command, kind, String(CHUNKS), ''];
  }
  if (server === 'peer' || server === 'ceiling') {
    return [process.execPath, CLUSTERED, server, kind, String(Math.max(1, workers))];
  }
  const database = server === 'memory' ? 'memory:' : `sqlite:${join(folder, 'parley.db')}`;
  const flags = workers === 0 ? [] : ['--workers', String(workers)];
  return [process.execPath, PARLEY, 'serve', AGENT, '--quiet', '--port', '0', '--database', database, ...flags];
}

/** The port that the server prints. It is read to its end, so that the server can write. */
function portOf(output: NodeJS.ReadableStream): Promise<number> {
  let text = '';
  return new Promise((resolve, reject) => {
    output.on('data', (chunk) => {
      text += String(chunk);
      const [, port] = /^(?:URL: \S+:)?(\d+)$/m.exec(text) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
    output.on('end', () => reject(new Error(`The server has ended: ${text}`)));
  });
}
