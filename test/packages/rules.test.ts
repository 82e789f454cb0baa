import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importsFromOutside, isNodeModule } from '../architecture/public-surface.js';
import { SourceTree, type Violation } from '../architecture/source-tree.js';
import { librariesBeside, manifestOf, needsOf, PACKAGES, PUBLISHED } from './packages.js';

const core = manifestOf('parley');
const CORE_PATHS = Object.keys(core.exports ?? {}).map((subpath) => subpath.replace('.', 'parley-a2a'));

/** Imports of a library that are neither its files, nor public paths of the core, nor of packages that it names. */
function foreignImports(tree: SourceTree, needs: readonly string[]): readonly Violation[] {
  const isNeeded = (specifier: string) => needs.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  return importsFromOutside(
    tree,
    (specifier) => isNodeModule(specifier) || CORE_PATHS.includes(specifier) || isNeeded(specifier),
  );
}

describe.each(PUBLISHED)('the package in %s', (folder) => {
  const { name, version, engines, license, dependencies, peerDependencies } = manifestOf(folder);

  it('has the version and the Node.js of the core, and needs other packages in exactly this version', () => {
    expect([version, engines]).toEqual([core.version, core.engines]);
    const own = Object.entries({ ...dependencies, ...peerDependencies }).filter(([need]) =>
      need.includes('parley-a2a'),
    );
    expect(own.filter(([, wanted]) => wanted !== core.version)).toEqual([]);
  });

  it('has the license of the repository', () => {
    const file = readFileSync(`${PACKAGES}/${folder}/LICENSE`, 'utf8');
    expect([license, file]).toEqual(['Apache-2.0', readFileSync(`${PACKAGES}/../LICENSE`, 'utf8')]);
  });

  it('has a README of one screen', () => {
    const lines = readFileSync(`${PACKAGES}/${folder}/README.md`, 'utf8').trimEnd().split('\n');
    expect(lines[0]).toBe(`# ${name}`);
    expect(lines.length).toBeLessThan(80);
  });
});

it('the core has no optional peers but hosts, whose types it names', () => {
  expect(Object.keys(core.peerDependencies ?? {})).toEqual(['express', 'fastify']);
});

describe.each(librariesBeside())('parley-a2a-%s', (folder) => {
  const manifest = manifestOf(folder);

  it('is named after its folder, and has the core as a peer', () => {
    const { name, files, peerDependencies } = manifest;
    expect([name, Object.keys(peerDependencies ?? {})]).toEqual([
      `parley-a2a-${folder}`,
      expect.arrayContaining(['parley-a2a']),
    ]);
    expect(files).toEqual(['dist', '!dist/.tsbuildinfo']);
  });

  it('imports its files, public paths of the core, and packages that it names', () => {
    const tree = SourceTree.read(`${PACKAGES}/${folder}/src`);
    expect(foreignImports(tree, needsOf(folder))).toEqual([]);
  });

  it('names no package that it does not import', () => {
    const texts = SourceTree.read(`${PACKAGES}/${folder}/src`).shipped.map(({ text }) => text);
    const unused = needsOf(folder).filter((name) => !texts.some((text) => text.includes(`'${name}`)));
    expect(unused).toEqual([]);
  });

  it('says how to install it', () => {
    const text = readFileSync(`${PACKAGES}/${folder}/README.md`, 'utf8');
    expect(text).toContain(`npm install parley-a2a ${manifest.name}`);
  });
});

it('has libraries to look at', () => {
  expect(librariesBeside()).toEqual(expect.arrayContaining(['ai-sdk', 'capnweb', 'durable-object', 'mcp', 's3']));
});

it.each(['parley-a2a-mcp', 'parley-a2a/exports/kit', '../../parley/src/tools/tool.js', 'zod'])(
  'notices an import of %s',
  (specifier) => {
    const tree = SourceTree.of({
      'a.ts': `import '${specifier}'; import 'parley-a2a/kit'; import 'node:fs'; import 'ai/test';`,
    });
    expect(foreignImports(tree, ['ai'])).toMatchObject([{ problem: expect.stringContaining(specifier) }]);
  },
);

/** Files of the core whose code, apart from comments, names a binding that has a package of its own. */
function filesThatName(binding: RegExp, tree: SourceTree): readonly string[] {
  const code = (text: string) => text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  return tree.shipped.filter(({ text }) => binding.test(code(text))).map(({ path }) => path);
}

describe('a binding is its package and few files of the core', () => {
  const tree = SourceTree.read(`${PACKAGES}/parley/src`);

  it.each([
    ["Cap'n Web", /capnweb/i, 3],
    ['gRPC', /grpc/i, 3],
  ])('%s', (_, binding, most) => {
    const files = filesThatName(binding, tree);
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
  });

  it('notices a file, and no comment', () => {
    const planted = SourceTree.of({
      'a.ts': "import { capnwebBinding } from './b.js';",
      'b.ts': '/**\n * As capnweb.\n */\n// capnweb\nexport const b = 1;',
    });
    expect(filesThatName(/capnweb/i, planted)).toEqual(['a.ts']);
  });
});
