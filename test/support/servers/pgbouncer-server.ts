import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';

/** A real pgbouncer in transaction mode before a PostgreSQL server. */
export class PgbouncerServer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(port: number, folder: string, child: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#process = child;
  }

  /**
   * Resolves when it accepts connections for the databases of the server at a port. `more`: further lines of its
   * settings, which take the place of those here.
   */
  static async start(serverPort: number, more: readonly string[] = []): Promise<PgbouncerServer> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-pgbouncer-'));
    await chmod(folder, 0o755);
    const port = await freePort();
    const config = join(folder, 'pgbouncer.ini');
    const settings = [
      '[databases]',
      `* = host=127.0.0.1 port=${serverPort} user=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 8',
      'max_client_conn = 500',
      // After an outage of the server it connects again at once.
      'server_login_retry = 0.2',
      ...more,
    ];
    await writeFile(config, settings.join('\n'));
    // It refuses to run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    const child = spawn('pgbouncer', ['-q', ...user, config], { stdio: 'ignore' });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const server = new PgbouncerServer(port, folder, child);
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    }
    return server;
  }

  /** The url of a database of the server, through the pooler. */
  urlOf(database: string, query = '?pooled=transaction'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}${query}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}
