import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { makeAuthority } from '../../credentials/certificates.js';
import { onFreePort } from './on-free-port.js';

const run = promisify(execFile);

/** Debian keeps the programs of each version of PostgreSQL in a folder of its own. */
const VERSIONS = '/usr/lib/postgresql';
const CACHE = fileURLToPath(new URL('../../../.cache', import.meta.url));
const USER = 'postgres';
/** In its folder, with which it goes: a killed server leaves segments of POSIX in `/dev/shm`. */
const SHARED_MEMORY = 'dynamic_shared_memory_type=mmap';
/** For the start after a kill, which forces all data to the disk. One by one, the files take minutes on a slow disk. */
const SYNC_AT_ONCE = 'recovery_init_sync_method=syncfs';
/** The first version with that setting. */
const SYNC_SINCE = 14;

function dataIn(folder: string): string {
  return join(folder, 'data');
}

/** A real PostgreSQL on a port of its own, that can be killed, frozen and started again. */
export class PostgresServer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(port: number, folder: string, settings: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#settings = settings;
  }

  /** Resolves when it accepts connections. `settings` as in its configuration file, such as `max_connections=20`. */
  static start(...settings: string[]): Promise<PostgresServer> {
    return PostgresServer.startIn(tmpdir(), ...settings);
  }

  /** The same with its data below a folder. */
  static async startIn(parent: string, ...settings: string[]): Promise<PostgresServer> {
    const folder = await mkdtemp(join(parent, 'parley-postgres-'));
    if (isRoot()) await run('chown', [USER, folder]);
    await chmod(folder, 0o700);
    const version = await readVersion();
    await makeData(folder, version);
    const canSync = process.platform === 'linux' && Number(/\d+/.exec(version)) >= SYNC_SINCE;
    const all = [...(canSync ? [SYNC_AT_ONCE] : []), ...settings];
    return onFreePort((port) => new PostgresServer(port, folder, all));
  }

  /** The url of the database that is always there. */
  get url(): string {
    return this.urlOf(USER);
  }

  urlOf(database: string): string {
    return `postgres://${USER}@127.0.0.1:${this.port}/${database}`;
  }

  /** The url of a new empty database. */
  async newDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.#query(`CREATE DATABASE ${name}`);
    return this.urlOf(name);
  }

  /** Offers TLS from now on, as `127.0.0.1`. Resolves to the path of the certificate of its authority. */
  async offerTls(): Promise<string> {
    const authority = makeAuthority('Test authority');
    const { cert, key } = authority.server();
    for (const [name, text] of Object.entries({ 'ca.crt': authority.ca, 'server.crt': cert, 'server.key': key })) {
      const path = join(this.#folder, name);
      await writeFile(path, text, { mode: 0o600 });
      if (isRoot()) await run('chown', [USER, path]);
    }
    await this.#query(`ALTER SYSTEM SET ssl_cert_file = '${join(this.#folder, 'server.crt')}'`);
    await this.#query(`ALTER SYSTEM SET ssl_key_file = '${join(this.#folder, 'server.key')}'`);
    await this.#query('ALTER SYSTEM SET ssl = on');
    await this.#query('SELECT pg_reload_conf()');
    return join(this.#folder, 'ca.crt');
  }

  /** Starts it on its port once it has been killed, with what it had stored. */
  async startAgain(): Promise<void> {
    const place = [`port=${this.port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${this.#folder}`];
    const flags = [...place, SHARED_MEMORY, ...this.#settings].flatMap((setting) => ['-c', setting]);
    const [program, args] = asServerUser('postgres', ['-D', this.#data, ...flags]);
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    const end = () => this.#signal('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => {
      process.off('exit', end);
      if (this.#process === child) this.#process = undefined;
    });
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stderr.on('data', (chunk: Buffer) => {
        output = (output + chunk).slice(-10_000);
        if (/ready to accept connections/.test(output)) resolve();
      });
      child.once('exit', (code) => reject(new Error(`postgres ended with ${code}:\n${output}`)));
    });
  }

  /** False after its end, even if it ended by itself. */
  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  /** Ends all its processes as a crash does. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child !== undefined) {
      const ended = once(child, 'exit');
      this.#signal('SIGKILL');
      await ended;
    }
    await rm(join(this.#data, 'postmaster.pid'), { force: true });
  }

  /** Stops its processes: connections stay open without answers. */
  freeze(): void {
    this.#signal('SIGSTOP');
  }

  /** Continues its processes. */
  thaw(): void {
    this.#signal('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.thaw();
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return dataIn(this.#folder);
  }

  /** The process of each connection has a group of its own. The first process goes first, so that it starts no more. */
  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    if (pid === undefined) return;
    const children = signal === 'SIGSTOP' ? [] : childrenOf(pid);
    process.kill(pid, signal);
    for (const child of [...children, ...childrenOf(pid)]) {
      try {
        process.kill(child, signal);
      } catch {
        // It has ended by itself.
      }
    }
  }

  async #query(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }
}

const initdb = (...args: string[]) => run(...asServerUser('initdb', args));

/** Such as `initdb (PostgreSQL) 15.18`. */
async function readVersion(): Promise<string> {
  return (await initdb('--version')).stdout;
}

/** Makes the data of a new server. `initdb` takes a second, so that later servers of this version get a copy. */
async function makeData(folder: string, version: string): Promise<void> {
  const key = createHash('sha256').update(`${version} ${process.getuid?.()}`).digest('hex').slice(0, 12);
  const kept = join(CACHE, `postgres-${key}`);
  if (existsSync(kept)) return void (await run('cp', ['-a', kept, dataIn(folder)]));
  await initdb('-D', dataIn(folder), '-A', 'trust', '-U', USER, '-E', 'UTF8', '-N');
  await mkdir(CACHE, { recursive: true });
  const own = await mkdtemp(join(CACHE, 'postgres-new-'));
  await run('cp', ['-a', dataIn(folder), join(own, 'data')]);
  // Another test may have been first.
  await rename(join(own, 'data'), kept).catch(() => {});
  await rm(own, { recursive: true, force: true });
}

function childrenOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([child, parent]) => (child !== undefined && parent === pid ? [child] : []));
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The command that runs a program of PostgreSQL, which refuses to run as root. */
function asServerUser(name: string, args: readonly string[]): [program: string, args: string[]] {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((one, other) => Number(other) - Number(one)) : [];
  const program = versions[0] === undefined ? name : join(VERSIONS, versions[0], 'bin', name);
  return isRoot()
    ? ['setpriv', [`--reuid=${USER}`, `--regid=${USER}`, '--init-groups', program, ...args]]
    : [program, [...args]];
}
