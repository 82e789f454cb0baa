import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { freePort } from './free-port.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** A registry for npm. Not every registry has the tag of `node-fetch` that it asks for. */
const VERDACCIO = '6.10.4';
const TOOLS = { private: true, dependencies: { verdaccio: VERDACCIO }, overrides: { 'node-fetch': '2.7.0' } };
const run = promisify(execFile);

/** A registry on loopback for the packages of this repository. It gets all others from the registry of the machine. */
export class NpmRegistry {
  readonly url: string;
  /** A file of npm's settings with the credential for it. */
  readonly userConfig: string;
  readonly #server: ChildProcess;

  private constructor(url: string, userConfig: string, server: ChildProcess) {
    this.url = url;
    this.userConfig = userConfig;
    this.#server = server;
  }

  /** Starts one that keeps its packages in a folder. */
  static async start(folder: string): Promise<NpmRegistry> {
    const tools = join(root, '.cache', `verdaccio-${VERDACCIO}`);
    const program = join(tools, 'node_modules/verdaccio/bin/verdaccio');
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    if (!existsSync(program)) {
      mkdirSync(tools, { recursive: true });
      writeFileSync(join(tools, 'package.json'), JSON.stringify(TOOLS));
      await run('npm', ['install', ...quiet], { cwd: tools });
    }
    const readSetting = async (name: string) =>
      (await run('npm', ['config', 'get', name], { cwd: root })).stdout.trim();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const settings = await readSetting('userconfig');
    const known = existsSync(settings) ? readFileSync(settings, 'utf8') : '';
    mkdirSync(folder, { recursive: true });
    const userConfig = join(folder, 'npmrc');
    writeFileSync(userConfig, `${known}\n//127.0.0.1:${port}/:_authToken=none\n`);
    const own = { access: '$all', publish: '$all' };
    const config = {
      storage: join(folder, 'storage'),
      uplinks: { npm: { url: await readSetting('registry') } },
      packages: { 'parley-a2a*': own, 'create-parley-a2a': own, '**': { access: '$all', proxy: 'npm' } },
      log: { type: 'stdout', level: 'error' },
    };
    // YAML takes JSON.
    writeFileSync(join(folder, 'verdaccio.yaml'), JSON.stringify(config));
    const args = [program, '--config', join(folder, 'verdaccio.yaml'), '--listen', `127.0.0.1:${port}`];
    const server = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    await vi.waitFor(async () => expect((await fetch(`${url}-/ping`)).ok).toBe(true), 60_000);
    return new NpmRegistry(url, userConfig, server);
  }

  /** Publishes packed packages, or those in folders. */
  async publish(packages: readonly string[]): Promise<void> {
    const env = { ...process.env, npm_config_userconfig: this.userConfig };
    for (const one of packages) await run('npm', ['publish', one, '--registry', this.url], { cwd: root, env });
  }

  /** Ends it. Its packages stay in the folder. */
  stop(): void {
    this.#server.kill();
  }
}
