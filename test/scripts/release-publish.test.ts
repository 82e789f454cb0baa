import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NpmRegistry } from '../support/servers/npm-registry.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const VERSION = '0.2.0';
/** The names of all packages that are not private. */
const PUBLISHED = readdirSync(join(root, 'packages'))
  .map((folder) => JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')))
  .flatMap(({ name, private: isPrivate }) => (isPrivate === true ? [] : [name as string]));
const run = promisify(execFile);

/** Takes minutes, and packages of the registry. */
describe.runIf(process.env.TEST_LONG !== undefined)('a release', { timeout: 900_000 }, () => {
  const folder = join(tmpdir(), `parley-release-${process.pid}`);
  const clone = join(folder, 'clone');
  const home = join(folder, 'home');
  let registry: NpmRegistry;

  /** Runs a command with the settings of npm of the machine, and with the credential for the registry on loopback. */
  const ran = (command: string, args: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}) => {
    const author = { GIT_AUTHOR_NAME: 'Test', GIT_AUTHOR_EMAIL: 'test@example.com' };
    const committer = { GIT_COMMITTER_NAME: 'Test', GIT_COMMITTER_EMAIL: 'test@example.com' };
    const { HOME } = process.env;
    const PATH = [join(process.execPath, '..'), process.env.PATH].join(delimiter);
    const env = { PATH, HOME, npm_config_userconfig: registry.userConfig, ...author, ...committer, ...more };
    return run(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  };

  beforeAll(async () => {
    registry = await NpmRegistry.start(folder);
    await run('git', ['clone', '--quiet', root, clone]);
  }, 300_000);

  afterAll(() => {
    registry?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('changes nothing unless it is told to', async () => {
    const { stdout } = await ran(process.execPath, ['scripts/release.mjs', VERSION], clone);
    expect(stdout).toContain('Would change: packages/parley/package.json\n');
    const command = `publish packed/parley-a2a-cli-${VERSION}.tgz --access public --tag latest`;
    expect(stdout).toContain(`Would then run: npm ${command}\n`);
    expect((await ran('git', ['status', '--porcelain'], clone)).stdout).toBe('');
  });

  it('packs what it has built, in a clone without any build', async () => {
    await ran(process.execPath, ['scripts/pack.mjs'], clone);
    for (const name of PUBLISHED) {
      const { stdout } = await run('tar', ['-tzf', join(clone, 'packed', `${name}.tgz`)]);
      expect(stdout, name).toMatch(/^package\/(?:dist|bundle)\/.+\.js$/m);
    }
  });

  it('is committed, tagged and published', async () => {
    const args = ['scripts/release.mjs', VERSION, '--apply', '--publish', '--registry', registry.url];
    const { stdout } = await ran(process.execPath, args, clone);
    expect(stdout).toContain('Publishing parley-a2a-cli: done');
    expect((await ran('git', ['tag'], clone)).stdout.split('\n')).toContain(`v${VERSION}`);
    expect((await ran('git', ['status', '--porcelain'], clone)).stdout).toBe('');
    const files = (await ran('git', ['show', '--name-only', '--format=', 'HEAD'], clone)).stdout.split('\n');
    expect(files).toContain('test/last-version/packages.tgz');
    const packed = readdirSync(join(clone, 'packed'));
    const names = packed.filter((file) => file.endsWith('.tgz')).map((file) => file.replace('.tgz', ''));
    expect(names.sort()).toEqual(PUBLISHED.map((name) => `${name}-${VERSION}`).sort());
    for (const name of PUBLISHED) expect((await fetch(`${registry.url}${name}/${VERSION}`)).status, name).toBe(200);
    const parts = names.filter((name) => !packed.includes(`${name}.cdx.json`));
    expect(parts).toEqual([]);
    const ofCore = JSON.parse(readFileSync(join(clone, `packed/parley-a2a-${VERSION}.cdx.json`), 'utf8'));
    expect(ofCore.components.map(({ name }: { readonly name: string }) => name)).toContain('typebox');
  });

  it('is installed in an empty home, and works', async () => {
    mkdirSync(home);
    writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }\n');
    const env = { HOME: home, npm_config_registry: registry.url, npm_config_userconfig: join(home, 'npmrc') };
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

  it('is withdrawn: npm warns of it with the reason', async () => {
    const reason = 'It loses tasks. Use 0.0.2';
    const stubs = PUBLISHED.map((name) => {
      const place = join(folder, 'stubs', name);
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version: '0.0.1' }));
      return place;
    });
    await registry.publish(stubs);
    const args = ['scripts/release.mjs', '0.0.1', '--withdraw', reason, '--registry', registry.url];
    const { stdout } = await ran(process.execPath, args, root);
    expect(stdout).toContain(`Would run: npm deprecate parley-a2a-grpc@0.0.1 ${reason}`);
    const reasonOf = async (name: string) => {
      const found = await (await fetch(`${registry.url}${name}/0.0.1`)).json();
      return (found as { readonly deprecated?: string }).deprecated;
    };
    expect(await reasonOf('parley-a2a')).toBeUndefined();
    await ran(process.execPath, [...args, '--publish'], root);
    for (const name of PUBLISHED) expect(await reasonOf(name), name).toBe(reason);
    const place = join(folder, 'warned');
    mkdirSync(place);
    const install = ['install', 'parley-a2a@0.0.1', '--registry', registry.url, '--prefix', place];
    expect((await ran('npm', install, place)).stderr).toContain(reason);
  });

  it('has provenance only where npm can make it', async () => {
    const place = join(folder, 'with-provenance');
    mkdirSync(place);
    writeFileSync(join(place, 'package.json'), '{ "name": "parley-a2a", "version": "0.0.3" }');
    const args = ['publish', place, '--provenance', '--access', 'public', '--registry', registry.url];
    await expect(ran('npm', args, place)).rejects.toThrow('Automatic provenance generation not supported');
  });
});
