import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';

/** Real sentinels that watch one primary under the name `main`. They soon replace a primary that has died. */
export class RedisSentinels implements AsyncDisposable {
  readonly #folder: string;
  readonly #ports: readonly number[];
  readonly #processes: readonly ChildProcess[];

  private constructor(folder: string, ports: readonly number[], processes: readonly ChildProcess[]) {
    this.#folder = folder;
    this.#ports = ports;
    this.#processes = processes;
  }

  /** Resolves when all of them run. */
  static async start(count: number, primaryPort: number): Promise<RedisSentinels> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-sentinels-'));
    const ports: number[] = [];
    const processes: ChildProcess[] = [];
    for (let at = 0; at < count; at += 1) {
      const port = await freePort();
      const settings = join(folder, `${at}.conf`);
      const lines = [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${folder}`,
        `sentinel monitor main 127.0.0.1 ${primaryPort} ${Math.floor(count / 2) + 1}`,
        'sentinel down-after-milliseconds main 500',
        'sentinel failover-timeout main 3000',
      ];
      await writeFile(settings, `${lines.join('\n')}\n`);
      const child = spawn('redis-server', [settings, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] });
      process.once('exit', () => child.kill('SIGKILL'));
      await new Promise<void>((resolve, reject) => {
        let output = '';
        child.stdout.on('data', (chunk: Buffer) => {
          output += chunk;
          if (output.includes('+monitor master main')) resolve();
        });
        child.once('exit', (code) => reject(new Error(`a sentinel ended with ${code}:\n${output}`)));
      });
      ports.push(port);
      processes.push(child);
    }
    return new RedisSentinels(folder, ports, processes);
  }

  get urls(): readonly string[] {
    return this.#ports.map((port) => `redis://127.0.0.1:${port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#processes) {
      if (child.exitCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
