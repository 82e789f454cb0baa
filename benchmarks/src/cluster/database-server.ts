import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from './cluster-options.js';

/** A database server that the benchmark uses. The url is for `DATABASE_URL`. */
export interface DatabaseServer extends AsyncDisposable {
  readonly url: string;
  readonly title: string;
}

/** A server that runs already, or a new one in a temporary folder. Its commits survive a power loss. */
export async function databaseServer(backend: Backend, url: string | undefined): Promise<DatabaseServer> {
  if (url !== undefined) return { url, title: `${backend}, a given server`, [Symbol.asyncDispose]: async () => {} };
  return backend === 'postgres' ? startPostgres() : startRedis();
}

const POSTGRES_VERSIONS = '/usr/lib/postgresql';
const POSTGRES_USER = 'postgres';
const POSTGRES_SETTINGS = [
  'max_connections=200',
  'shared_buffers=256MB',
  'max_wal_size=4GB',
  'shared_preload_libraries=pg_stat_statements',
  'pg_stat_statements.max=10000',
];

async function startPostgres(): Promise<DatabaseServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-postgres-'));
  const data = join(folder, 'data');
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number(execFileSync('id', [flag, POSTGRES_USER], { encoding: 'utf8' })),
    );
    chownSync(folder, uid ?? 0, gid ?? 0);
  }
  const as = (program: string, args: readonly string[]) => {
    const path = postgresProgram(program);
    return isRoot
      ? {
          command: 'setpriv',
          args: [`--reuid=${POSTGRES_USER}`, `--regid=${POSTGRES_USER}`, '--init-groups', path, ...args],
        }
      : { command: path, args: [...args] };
  };
  const made = as('initdb', ['-D', data, '-A', 'trust', '-U', POSTGRES_USER, '-E', 'UTF8', '-N']);
  execFileSync(made.command, made.args, { stdio: 'ignore' });
  const places = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`];
  const server = as('postgres', ['-D', data, ...[...places, ...POSTGRES_SETTINGS].flatMap((one) => ['-c', one])]);
  const child = spawn(server.command, server.args, { stdio: ['ignore', 'ignore', 'pipe'] });
  await ready(child, child.stderr, /ready to accept connections/);
  const version = execFileSync(postgresProgram('postgres'), ['--version'], { encoding: 'utf8' }).trim();
  return {
    url: `postgres://${POSTGRES_USER}@127.0.0.1:${port}/${POSTGRES_USER}`,
    title: `${version}, fsync on, synchronous_commit on`,
    [Symbol.asyncDispose]: () => ended(child, 'SIGINT', folder),
  };
}

async function startRedis(): Promise<DatabaseServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-redis-'));
  // A rewrite of the file would hide what was appended to it.
  const whole = ['--auto-aof-rewrite-percentage', '0', '--save', ''];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction', ...whole];
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const child = spawn('redis-server', [...place, ...durable], { stdio: ['ignore', 'pipe', 'inherit'] });
  await ready(child, child.stdout, /Ready to accept connections/);
  const version = execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).split(' ').slice(0, 3).join(' ');
  return {
    url: `redis://127.0.0.1:${port}`,
    title: `${version}, appendfsync always`,
    [Symbol.asyncDispose]: () => ended(child, 'SIGTERM', folder),
  };
}

async function ready(child: ChildProcess, output: NodeJS.ReadableStream, sign: RegExp): Promise<void> {
  let text = '';
  await new Promise<void>((resolve, reject) => {
    output.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-10_000);
      if (sign.test(text)) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The database ended with ${code}:\n${text}`)));
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Debian keeps the programs of each version of PostgreSQL in a folder of its own. */
function postgresProgram(name: string): string {
  if (!existsSync(POSTGRES_VERSIONS)) return name;
  const [newest] = readdirSync(POSTGRES_VERSIONS).sort((one, other) => Number(other) - Number(one));
  return newest === undefined ? name : join(POSTGRES_VERSIONS, newest, 'bin', name);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has a port');
  return address.port;
}
