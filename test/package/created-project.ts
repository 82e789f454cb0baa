import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { type Combination, labelOf } from '../create/combinations.js';
import { freePort } from '../support/servers/free-port.js';
import { inProject, repository, suite } from './packed.js';

export const MINUTES = 60_000;
const { PATH = '', HOME = '' } = process.env;
const ENVIRONMENT = { PATH: [join(process.execPath, '..'), PATH].join(delimiter), HOME, NEXT_TELEMETRY_DISABLED: '1' };

interface ProjectManifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** A new project with the packed packages in place of published ones. */
export class CreatedProject implements Disposable {
  readonly #combination: Combination;
  readonly folder: string;
  readonly scripts: Readonly<Record<string, string>>;

  private constructor(combination: Combination, folder: string, scripts: Readonly<Record<string, string>>) {
    this.#combination = combination;
    this.folder = folder;
    this.scripts = scripts;
  }

  /** Writes the project of a combination into a folder with this prefix, and installs it. */
  static async create(combination: Combination, prefix: string): Promise<CreatedProject> {
    const folder = join(suite.project, '..', `${prefix}-${labelOf(combination)}`);
    const flags = Object.entries(combination).flatMap(([question, choice]) => [`--${question}`, choice]);
    const parley = join(repository, 'packages/cli/bin/parley.js');
    expect(await inProject(process.execPath, [parley, 'init', folder, '--yes', ...flags])).toMatchObject({ code: 0 });
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as ProjectManifest;
    const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
    const own = Object.entries(suite.tarballs).flatMap(([name, file]) => (name in wanted ? [file] : []));
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    await promisify(execFile)('npm', ['install', '--no-save', ...own, ...quiet], { cwd: folder, timeout: 5 * MINUTES });
    return new CreatedProject(combination, folder, manifest.scripts);
  }

  npm(...args: readonly string[]) {
    return inProject('npm', args, this.folder, 5 * MINUTES);
  }

  /** Runs a script that serves the agent until `use` is done. */
  async serve(script: string, more: Readonly<Record<string, string>>, use: (served: ServedProject) => Promise<void>) {
    const port = await freePort();
    const base = `http://localhost:${port}`;
    const url = `${base}${this.#combination.host === 'own' ? '' : '/agent'}`;
    const env = { ...ENVIRONMENT, ...more, PORT: String(port), AGENT_URL: url };
    const server = spawn('npm', ['run', script], { cwd: this.folder, env, stdio: 'pipe', detached: true });
    let output = '';
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (output += String(text)));
    const ended = once(server, 'exit');
    try {
      await vi.waitFor(async () => expect((await fetch(`${base}/healthz`)).ok, output).toBe(true), MINUTES);
      const ask = async (credentials: Readonly<Record<string, string>> = {}) => {
        const options = { cwd: this.folder, env: { ...env, ...credentials } };
        return (await promisify(execFile)('npm', ['run', '--silent', 'ask'], options)).stdout;
      };
      await use({ url, ask, output: () => output });
    } finally {
      if (server.pid !== undefined) process.kill(-server.pid, 'SIGTERM');
      await ended;
    }
  }

  [Symbol.dispose](): void {
    // The packages of 30 projects would fill a disk.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The agent of a project while it is served. */
export interface ServedProject {
  readonly url: string;
  /** Runs `npm run ask`, and resolves to its output. */
  readonly ask: (credentials?: Readonly<Record<string, string>>) => Promise<string>;
  /** The output of the server so far. */
  readonly output: () => string;
}
