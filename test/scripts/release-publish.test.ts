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
const LIBRARIES = ['parley-a2a', 'parley-a2a-grpc', 'parley-a2a-mcp'];
const run = promisify(execFile);

/** A version as the registry describes it. */
interface PublishedVersion {
  readonly dist: { readonly integrity: string };
  readonly deprecated?: string;
}

/** A part in a list in CycloneDX. */
interface Part {
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly object[];
}

function partsOf(list: string): readonly Part[] {
  return (JSON.parse(list) as { readonly components: readonly Part[] }).components;
}

/** Takes minutes, and packages of the registry. */
describe.runIf(process.env.TEST_LONG !== undefined)('a release', { timeout: 900_000 }, () => {
  const folder = join(tmpdir(), `parley-release-${process.pid}`);
  const clone = join(folder, 'clone');
  let registry: NpmRegistry;

  /** Runs a command with the settings of npm of the machine, and with the credential for the registry on loopback. */
  const ran = (command: string, args: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}) => {
    const author = { GIT_AUTHOR_NAME: 'Test', GIT_AUTHOR_EMAIL: 'test@example.com' };
    const committer = { GIT_COMMITTER_NAME: 'Test', GIT_COMMITTER_EMAIL: 'test@example.com' };
    // Without the certificates of the machine, npm tries each package for minutes.
    const { HOME, NODE_EXTRA_CA_CERTS } = process.env;
    const PATH = [join(process.execPath, '..'), process.env.PATH].join(delimiter);
    const npm = { npm_config_userconfig: registry.userConfig, npm_config_prefer_offline: 'true' };
    const env = { PATH, HOME, NODE_EXTRA_CA_CERTS, ...npm, ...author, ...committer, ...more };
    return run(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  };

  /** Runs a command in an empty home with this name, which knows nothing but the registry. */
  const atHome = (name: string, command: string, ...args: readonly string[]) => {
    const home = join(folder, name);
    mkdirSync(home, { recursive: true });
    const env = { HOME: home, npm_config_registry: registry.url, npm_config_userconfig: join(home, 'npmrc') };
    return ran(command, args, home, env);
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
    await atHome('library', 'npm', 'init', '--yes');
    await atHome('library', 'npm', 'install', ...LIBRARIES, '--no-audit', '--no-fund', '--loglevel=error');
    const code = `const { createA2AServer } = await import('parley-a2a');
      const { grpcBinding } = await import('parley-a2a-grpc');
      const server = createA2AServer({ agent: (text) => text, bindings: [grpcBinding({ port: 0 })] });
      console.log(server.agentCard.name, typeof (await import('parley-a2a-mcp')).mcpServerOf);`;
    const { stdout } = await atHome('library', process.execPath, '--input-type=module', '--eval', code);
    expect(stdout).toMatch(/ function\n$/);
  });

  it('brings the parts of its lists, each package as it is in the registry', async () => {
    const { stdout } = await atHome('library', 'npm', 'sbom', '--sbom-format=cyclonedx');
    const brought = partsOf(stdout);
    for (const name of LIBRARIES) {
      const list = partsOf(readFileSync(join(clone, `packed/${name}-${VERSION}.cdx.json`), 'utf8'));
      const { bundled = [] } = JSON.parse(
        readFileSync(join(folder, `library/node_modules/${name}/package.json`), 'utf8'),
      );
      const missing = list.filter(
        (part) => !bundled.includes(part.name) && !brought.some((one) => one.name === part.name),
      );
      expect(missing, name).toEqual([]);
      const { version, hashes } = brought.find((part) => part.name === name) ?? {};
      const published = (await (await fetch(`${registry.url}${name}/${VERSION}`)).json()) as PublishedVersion;
      const hash = Buffer.from(published.dist.integrity.replace('sha512-', ''), 'base64').toString('hex');
      expect([version, hashes]).toEqual([VERSION, [{ alg: 'SHA-512', content: hash }]]);
    }
  });

  it('runs its commands by npx, and makes a project by npm create, whose tests pass', async () => {
    expect((await atHome('commands', 'npx', '--yes', 'parley-a2a-cli', '--version')).stdout).toBe(
      `parley ${VERSION}\n`,
    );
    await atHome('created', 'npm', 'create', '--yes', 'parley-a2a@latest', 'my-agent', '--', '--yes');
    const inProject = ['--prefix', 'my-agent'];
    await atHome('created', 'npm', 'install', ...inProject);
    const manifest = join(folder, 'created/my-agent/node_modules/parley-a2a/package.json');
    expect(JSON.parse(readFileSync(manifest, 'utf8')).version).toBe(VERSION);
    expect((await atHome('created', 'npm', 'test', ...inProject)).stdout).toMatch(/^\S+ fail 0$/m);
  });

  it('is withdrawn: npm warns of it with the reason', async () => {
    const reason = 'It loses tasks. Use 0.2.1';
    const args = ['scripts/release.mjs', VERSION, '--withdraw', reason, '--registry', registry.url];
    const { stdout } = await ran(process.execPath, args, clone);
    expect(stdout).toContain(`Would run: npm deprecate parley-a2a-grpc@${VERSION} ${reason}`);
    const reasonOf = async (name: string) =>
      ((await (await fetch(`${registry.url}${name}/${VERSION}`)).json()) as PublishedVersion).deprecated;
    expect(await reasonOf('parley-a2a')).toBeUndefined();
    await ran(process.execPath, [...args, '--publish'], clone);
    for (const name of PUBLISHED) expect(await reasonOf(name), name).toBe(reason);
    expect((await atHome('warned', 'npm', 'install', `parley-a2a@${VERSION}`)).stderr).toContain(reason);
  });

  it('has provenance only where npm can make it', async () => {
    const place = join(folder, 'with-provenance');
    mkdirSync(place);
    writeFileSync(join(place, 'package.json'), '{ "name": "parley-a2a", "version": "0.0.3" }');
    const args = ['publish', place, '--provenance', '--access', 'public', '--registry', registry.url];
    await expect(ran('npm', args, place)).rejects.toThrow('Automatic provenance generation not supported');
  });
});
