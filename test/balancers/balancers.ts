import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/servers/free-port.js';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

/** The programs of the balancers. */
export const BALANCERS = ['haproxy', 'nginx'] as const;
export type BalancerName = (typeof BALANCERS)[number];

/** A configuration of `deploy/` with the addresses of this machine, and idle times of seconds instead of minutes. */
async function writeConfiguration(name: BalancerName, port: number, replicas: readonly number[]): Promise<string> {
  const text = await readFile(join(DEPLOY, name === 'haproxy' ? 'haproxy.cfg' : 'nginx.conf'), 'utf8');
  const local = replicas.reduce(
    (config, replica, at) => config.replaceAll(`replica${at + 1}:8080`, `127.0.0.1:${replica}`),
    text,
  );
  const changes: readonly (readonly [from: string | RegExp, to: string])[] =
    name === 'haproxy'
      ? [
          ['bind :8080', `bind 127.0.0.1:${port}`],
          ['hdr Host replica', 'hdr Host 127.0.0.1'],
          ['timeout client 45s', 'timeout client 2s'],
          ['set-timeout server 45s', 'set-timeout server 2s'],
          [' resolvers system', ''],
        ]
      : [
          ['listen 8080', `listen 127.0.0.1:${port}`],
          [
            'worker_processes auto;',
            `worker_processes 1; daemon off; pid nginx.pid; error_log stderr warn;${asRoot()}`,
          ],
          ['access_log /dev/stdout;', `access_log off; ${temporaryPaths()}`],
          ['proxy_read_timeout 10m', 'proxy_read_timeout 2s'],
        ];
  return changes.reduce((config, [from, to]) => {
    if (config.search(from) < 0) throw new Error(`${name} has no ${from}`);
    return config.replace(from, to);
  }, local);
}

function asRoot(): string {
  return userInfo().uid === 0 ? ' user root root;' : '';
}

function temporaryPaths(): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return kinds.map((kind) => `${kind}_temp_path ${kind};`).join(' ');
}

/** A real balancer with the configuration of `deploy/`. */
export class Balancer implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(port: number, process: ChildProcess, folder: string) {
    this.url = `http://127.0.0.1:${port}`;
    this.#process = process;
    this.#folder = folder;
  }

  /** Resolves when it passes a request on. `replicas`: their ports. */
  static async start(name: BalancerName, replicas: readonly number[]): Promise<Balancer> {
    const folder = await mkdtemp(join(tmpdir(), `parley-${name}-`));
    const port = await freePort();
    const file = join(folder, 'config');
    await writeFile(file, await writeConfiguration(name, port, replicas));
    const args = name === 'haproxy' ? ['-db', '-f', file] : ['-p', folder, '-c', file, '-e', 'stderr'];
    const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    let said = '';
    child.stdout.on('data', (chunk) => (said = (said + chunk).slice(-10_000)));
    child.stderr.on('data', (chunk) => (said = (said + chunk).slice(-10_000)));
    const balancer = new Balancer(port, child, folder);
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}:\n${said}`);
      const answer = await fetch(`${balancer.url}/.well-known/agent-card.json`).catch(() => undefined);
      if (answer?.status === 200) return balancer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGTERM');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
