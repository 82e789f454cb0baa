import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { firstMinutesBound } from '../support/first-minutes.js';
import { freePort } from '../support/servers/free-port.js';
import { NpmRegistry } from '../support/servers/npm-registry.js';
import { buildImage } from './dockerfile-steps.js';

const run = promisify(execFile);

/** Its time, as a multiple of the time in which the official SDK and Express are installed. */
const MOST = firstMinutesBound(
  'from `npm create` to the first answer, divided by installing `@a2a-js/sdk` and Express',
);
const ROUNDS = 3;

/** Takes minutes, and packages of the registry. */
describe.runIf(process.env.TEST_LONG !== undefined)('from the registry', { timeout: 900_000 }, () => {
  const folder = join(tmpdir(), `parley-first-answer-${process.pid}`);
  let registry: NpmRegistry;

  beforeAll(async () => {
    registry = await NpmRegistry.start(folder);
    await registry.publish(['parley', 'testing', 'create-parley-a2a'].map((name) => `./packages/${name}`));
  }, 300_000);

  afterAll(() => {
    registry?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** An empty home, and a way to run commands there or in a folder of it. */
  function emptyHome(name: string) {
    const home = join(folder, name);
    mkdirSync(home);
    const { PATH = '' } = process.env;
    const env = {
      PATH: [join(process.execPath, '..'), PATH].join(delimiter),
      HOME: home,
      npm_config_registry: registry.url,
    };
    const ran = (command: string, args: readonly string[], more = {}, cwd = home) =>
      run(command, args, { cwd, env: { ...env, ...more } });
    return { home, env, ran };
  }

  /** Serves a project until `use` is done. */
  async function withServer<T>(
    project: string,
    command: readonly [string, ...string[]],
    env: object,
    use: () => Promise<T>,
  ) {
    const [program, ...args] = command;
    const server = spawn(program, args, { cwd: project, env: { ...env }, stdio: 'ignore', detached: true });
    const ended = once(server, 'exit');
    try {
      return await use();
    } finally {
      if (server.pid !== undefined) process.kill(-server.pid, 'SIGTERM');
      await ended;
    }
  }

  /** Milliseconds from `npm create` to the first answer. */
  async function firstAnswer(name: string): Promise<number> {
    const { home, env, ran } = emptyHome(name);
    const began = performance.now();
    await ran('npm', ['create', '--yes', 'parley-a2a@latest', 'my-agent', '--', '--yes']);
    const project = join(home, 'my-agent');
    await ran('npm', ['install'], {}, project);
    const port = String(await freePort());
    const AGENT_URL = `http://127.0.0.1:${port}`;
    return withServer(project, ['npm', 'run', 'dev'], { ...env, PORT: port }, async () => {
      const ask = () => ran('node', ['ask.ts', 'hello'], { AGENT_URL }, project);
      const answer = await vi.waitFor(ask, { timeout: 60_000, interval: 50 });
      expect(answer.stdout).toContain('HELLO');
      return performance.now() - began;
    });
  }

  async function officialInstall(name: string): Promise<number> {
    const { home, ran } = emptyHome(name);
    writeFileSync(join(home, 'package.json'), '{ "private": true }\n');
    const began = performance.now();
    await ran('npm', ['install', '@a2a-js/sdk', 'express']);
    return performance.now() - began;
  }

  it(`gives the first answer within ${MOST} × the installation of the official SDK and Express`, async () => {
    const ours: number[] = [];
    const theirs: number[] = [];
    // The registry of the test fetches all packages in the round that does not count.
    for (let round = 0; round <= ROUNDS; round++) {
      const [answer, installation] = [await firstAnswer(`ours-${round}`), await officialInstall(`theirs-${round}`)];
      if (round > 0) ours.push(answer);
      if (round > 0) theirs.push(installation);
    }
    const [least, official] = [Math.min(...ours), Math.min(...theirs)];
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    process.stdout.write(
      `first answer: ${seconds(least)} s; official SDK installed: ${seconds(official)} s; ${(least / official).toFixed(2)} ×\n`,
    );
    expect(least / official).toBeLessThanOrEqual(MOST);
  });

  it('is built by the steps of its Dockerfile in a clean folder, healthy, and answers', async () => {
    const { home, env, ran } = emptyHome('image');
    await ran('npm', ['create', '--yes', 'parley-a2a@latest', 'my-agent', '--', '--yes']);
    const source = join(home, 'my-agent');
    await ran('npm', ['install', '--package-lock-only'], {}, source);
    const { image, variables, command, probe } = await buildImage(source, home, (shell, cwd) =>
      ran('sh', ['-c', shell], {}, cwd),
    );
    expect((await ran('ls', ['node_modules'], {}, image)).stdout).not.toContain('typescript');
    const port = String(await freePort());
    const used = { ...env, ...variables, PORT: port, HOST: '127.0.0.1' };
    const [program, ...args] = probe;
    await withServer(image, command, used, async () => {
      await vi.waitFor(() => ran(program, args, { PORT: port }), 60_000);
      const AGENT_URL = `http://127.0.0.1:${port}`;
      expect((await ran('node', ['ask.ts', 'hello'], { AGENT_URL }, image)).stdout).toContain('HELLO');
    });
    await expect(ran(program, args, { PORT: port })).rejects.toThrow();
  });
});
