import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { writePartsList } from '../../scripts/parts-list.mjs';
import { installed, manifest, repository, subpaths, suite, tarballOf } from './packed.js';

const files = readdirSync(installed, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
const sizeOf = (path: string) => statSync(join(installed, path)).size;
const kB = (bytes: number) => `${Math.round(bytes / 1000)} kB`;

/** Loads a tool of the suite. The caller names its type. */
async function tool<T>(name: string): Promise<T> {
  const path = createRequire(join(suite.tools, 'package.json')).resolve(name);
  return (await import(pathToFileURL(path).href)) as T;
}

/** A part in a list. */
interface Part {
  readonly name: string;
  readonly version: string;
}

describe('the package', () => {
  it('holds what is needed and nothing else', () => {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'docs/agents.md']));
    const known =
      /^(?:package\.json|LICENSE|README\.md|CHANGELOG\.md|docs\/[\w-]+\.(?:md|yaml|json)|bundle\/[\w.-]+\.js|bundle\/LICENSE\.typebox|bundle\/types\/.+\.d\.ts)$/;
    expect(files.filter((file) => !known.test(file))).toEqual([]);
    expect(files.filter((file) => /\.test\.|tsbuildinfo/.test(file))).toEqual([]);
  });

  it('is small', () => {
    const packed = statSync(tarballOf('parley-a2a')).size;
    const unpacked = files.reduce((sum, file) => sum + sizeOf(file), 0);
    process.stdout.write(`package: ${kB(packed)} packed, ${kB(unpacked)} unpacked, ${files.length} files\n`);
    expect(packed).toBeLessThan(1_250_000);
    expect(unpacked).toBeLessThan(4_200_000);
  });

  it('has declarations for every subpath, and no map that leads nowhere', () => {
    const scripts = files.filter((file) => file.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(subpaths.length);
    const types = Object.values(manifest.exports).map((targets) => targets.types.replace('./', ''));
    expect(types.filter((file) => !files.includes(file))).toEqual([]);
    expect(scripts.filter((file) => readFileSync(join(installed, file), 'utf8').includes('sourceMappingURL'))).toEqual(
      [],
    );
  });

  it('leads from its documents to what is in it', () => {
    const broken = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        Array.from(readFileSync(join(installed, file), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g), ([, target]) =>
          join(file, '..', target ?? ''),
        ).filter((target) => !files.includes(target)),
      );
    expect(broken).toEqual([]);
  });

  it('tells its readers of every import path', () => {
    const readme = readFileSync(join(installed, 'README.md'), 'utf8');
    expect(subpaths.map(({ specifier }) => specifier).filter((one) => !readme.includes(`\`${one}\``))).toEqual([]);
  });

  it('shows the agent that the repository shows', () => {
    const first = (path: string) => /^```ts\n(.*?)^```$/ms.exec(readFileSync(path, 'utf8'))?.[1];
    expect(first(join(installed, 'README.md'))).toBe(first(join(repository, 'README.md')));
  });

  it('says what it is', () => {
    expect(manifest).toMatchObject({
      name: 'parley-a2a',
      description: expect.stringMatching(/.{30}/),
      keywords: expect.arrayContaining(['a2a']),
      license: 'Apache-2.0',
      type: 'module',
      sideEffects: false,
      engines: { node: expect.stringMatching(/^>=\d+\.\d+$/) },
    });
    const meta = manifest.peerDependenciesMeta as Record<string, { optional?: boolean }> | undefined;
    const required = Object.keys(manifest.peerDependencies ?? {}).filter((peer) => meta?.[peer]?.optional !== true);
    expect(required).toEqual([]);
  });
});

describe.each(Object.entries(suite.tarballs))('%s', (_, path) => {
  const data = readFileSync(path);

  it('has the license of the repository', () => {
    const inTarball = (file: string) => execFileSync('tar', ['-xzOf', path, `package/${file}`], { encoding: 'utf8' });
    expect(inTarball('LICENSE')).toBe(readFileSync(join(repository, 'LICENSE'), 'utf8'));
    expect(JSON.parse(inTarball('package.json')).license).toBe('Apache-2.0');
  });

  it('gives publint nothing to say', async () => {
    type Publint = { publint: (options: object) => Promise<{ messages: object[] }> };
    const { publint } = await tool<Publint>('publint');
    const tarball = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
    const { messages } = await publint({ pack: { tarball }, strict: true });
    expect(messages).toEqual([]);
  });

  it('has no wrong types, as a package of ES modules alone', async () => {
    type Problem = { kind: string; resolutionKind?: string };
    type Core = {
      createPackageFromTarballData(data: Uint8Array): object;
      checkPackage(from: object, options: object): Promise<{ types: unknown; problems?: Problem[] }>;
    };
    const core = await tool<Core>('@arethetypeswrong/core');
    const options = process.env.TEST_LONG === undefined ? { entrypoints: ['.'] } : {};
    const { types, problems } = await core.checkPackage(core.createPackageFromTarballData(data), options);
    // A package of commands has no types.
    if (types === false) return;
    expect(types).toMatchObject({ kind: 'included' });
    // Node.js 10 does not know `exports`. CommonJS gets an ES module, which supported versions of Node.js can require.
    const wrong = problems?.filter(
      ({ kind, resolutionKind }) => resolutionKind !== 'node10' && kind !== 'CJSResolvesToESM',
    );
    expect(wrong).toEqual([]);
  });
});

it('the list of parts of the command line has what npm installs with it, and no file of this machine', async () => {
  const manifest = JSON.parse(readFileSync(join(repository, 'packages/cli/package.json'), 'utf8'));
  const file = join(suite.project, '../parts.json');
  const packedFile = (name: string) => (name in suite.tarballs ? `file:${tarballOf(name)}` : undefined);
  expect(await writePartsList(manifest, { file, packedFile })).toMatchObject({ code: 0 });
  const list = readFileSync(file, 'utf8');
  expect(list).not.toContain('file:');
  const { metadata, components } = JSON.parse(list) as { metadata: { component: Part }; components: readonly Part[] };
  const parts = [metadata.component, ...components].map(({ name, version }) => `${name}@${version}`);
  const modules = join(suite.commands, 'node_modules');
  const brought = readdirSync(modules).filter((name) => !name.startsWith('.'));
  const versionOf = (name: string) => JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).version;
  expect(parts.sort()).toEqual(brought.map((name) => `${name}@${versionOf(name)}`).sort());
});

it('leaves nothing of its making in the repository', () => {
  const status = execFileSync('git', ['status', '--porcelain', '--ignored', 'packages/parley'], { cwd: repository });
  expect(status.toString()).not.toMatch(/CHANGELOG|docs/);
});
