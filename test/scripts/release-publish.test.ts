import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../interop/example-server.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A registry for npm. Not every registry has the tag of `node-fetch` that it asks for. */
const VERDACCIO = '6.10.4';
const TOOLS = { private: true, dependencies: { verdaccio: VERDACCIO }, overrides: { 'node-fetch': '2.7.0' } };
const VERSION = '0.2.0';
/** The names of all packages that are not private. */
const PUBLISHED = readdirSync(join(root, 'packages'))
  .map((folder) => JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')))
  .flatMap(({ name, private: isPrivate }) => (isPrivate === true ? [] : [name as string]));
const run = promisify(execFile);

/** Takes minutes, and packages of the registry. */
describe.runIf(process.env.TEST_LONG !== undefined)('a release', { timeout: 900_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-release-'));
  const clone = join(folder, 'clone');
  const home = join(folder, 'home');
  let registry = '';
  let server: ChildProcess | undefined;

  /** Runs a command with the settings of npm of the machine, and with the credential for the registry on loopback. */
  const ran = (command: string, args: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}) => {
    const author = { GIT_AUTHOR_NAME: 'Test', GIT_AUTHOR_EMAIL: 'test@example.com' };
    const committer = { GIT_COMMITTER_NAME: 'Test', GIT_COMMITTER_EMAIL: 'test@example.com' };
    const { HOME } = process.env;
    const PATH = [join(process.execPath, '..'), process.env.PATH].join(delimiter);
    const env = { PATH, HOME, npm_config_userconfig: join(folder, 'npmrc'), ...author, ...committer, ...more };
    return run(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  };

  beforeAll(async () => {
    const tools = join(root, '.cache', `verdaccio-${VERDACCIO}`);
    const program = join(tools, 'node_modules/verdaccio/bin/verdaccio');
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    if (!existsSync(program)) {
      mkdirSync(tools, { recursive: true });
      writeFileSync(join(tools, 'package.json'), JSON.stringify(TOOLS));
      await run('npm', ['install', ...quiet], { cwd: tools });
    }
    const setting = async (name: string) => (await run('npm', ['config', 'get', name], { cwd: root })).stdout.trim();
    const port = await freePort();
    registry = `http://127.0.0.1:${port}/`;
    const settings = await setting('userconfig');
    const known = existsSync(settings) ? readFileSync(settings, 'utf8') : '';
    writeFileSync(join(folder, 'npmrc'), `${known}\n//127.0.0.1:${port}/:_authToken=none\n`);
    const config = {
      storage: join(folder, 'storage'),
      uplinks: { npm: { url: await setting('registry') } },
      packages: {
        'parley-a2a*': { access: '$all', publish: '$all' },
        '**': { access: '$all', proxy: 'npm' },
      },
      log: { type: 'stdout', level: 'error' },
    };
    // YAML takes JSON.
    writeFileSync(join(folder, 'verdaccio.yaml'), JSON.stringify(config));
    const args = [program, '--config', join(folder, 'verdaccio.yaml'), '--listen', `127.0.0.1:${port}`];
    server = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    await vi.waitFor(async () => expect((await fetch(`${registry}-/ping`)).ok).toBe(true), 60_000);
    await run('git', ['clone', '--quiet', root, clone]);
  }, 300_000);

  afterAll(() => {
    server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it('changes nothing unless it is told to', async () => {
    const { stdout } = await ran(process.execPath, ['scripts/release.mjs', VERSION], clone);
    expect(stdout).toContain('Would change: packages/parley/package.json\n');
    expect((await ran('git', ['status', '--porcelain'], clone)).stdout).toBe('');
  });

  it('is committed, tagged and published', async () => {
    const args = ['scripts/release.mjs', VERSION, '--apply', '--publish', '--registry', registry];
    const { stdout } = await ran(process.execPath, args, clone);
    expect(stdout).toContain('Publishing parley-a2a-cli: done');
    expect((await ran('git', ['tag'], clone)).stdout.split('\n')).toContain(`v${VERSION}`);
    expect((await ran('git', ['status', '--porcelain'], clone)).stdout).toBe('');
    const files = (await ran('git', ['show', '--name-only', '--format=', 'HEAD'], clone)).stdout.split('\n');
    expect(files).toContain('test/last-version/packages.tgz');
    const packed = readdirSync(join(clone, 'packed'));
    const names = packed.filter((file) => file.endsWith('.tgz')).map((file) => file.replace('.tgz', ''));
    expect(names.sort()).toEqual(PUBLISHED.map((name) => `${name}-${VERSION}`).sort());
    for (const name of PUBLISHED) expect((await fetch(`${registry}${name}/${VERSION}`)).status, name).toBe(200);
    const parts = names.filter((name) => !packed.includes(`${name}.cdx.json`));
    expect(parts).toEqual([]);
  });

  it('is installed in an empty home, and works', async () => {
    mkdirSync(home);
    writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }\n');
    const env = { HOME: home, npm_config_registry: registry, npm_config_userconfig: join(home, 'npmrc') };
    const wanted = ['parley-a2a', 'parley-a2a-grpc', 'parley-a2a-mcp'];
    await ran('npm', ['install', ...wanted, '--no-audit', '--no-fund', '--loglevel=error'], home, env);
    const code = `const { createA2AServer } = await import('parley-a2a');
      const { grpcBinding } = await import('parley-a2a-grpc');
      const server = createA2AServer({ agent: (text) => text, bindings: [grpcBinding({ port: 0 })] });
      console.log(server.agentCard.name, typeof (await import('parley-a2a-mcp')).mcpServerOf);`;
    const { stdout } = await ran(process.execPath, ['--input-type=module', '--eval', code], home, env);
    expect(stdout).toMatch(/ function\n$/);
    const cli = ['--yes', '--package', 'parley-a2a-cli', 'parley', '--version'];
    expect((await ran('npx', cli, home, env)).stdout).toBe(`parley ${VERSION}\n`);
  });
});
