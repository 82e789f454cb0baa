import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
/** Folders that the paths of the recipes begin in. */
const BASES = [
  '',
  'packages/parley/src/',
  'packages/parley/src/bindings/',
  'packages/parley/src/store/',
  'packages/cli/src/',
  'packages/cli/src/command-line/',
  'packages/mcp/',
  'test/',
];
/** Files of the examples in the recipes, and what programs write. */
const EXAMPLES = /(?:^|\/)lines(?:-|\/|\.|$)|^packed\/|^\.cache\/|^commands\/$|^documents?\//;
/** The files of a new store, which the recipe names. */
const NEW_FILES =
  /^(?:table|rows|task-log|task-tables|task-lists|key-tables|queue-tables|owner-tables|table-storage|operations|wire-codec|client-codec|wire-schemas|tsconfig|loaders|index)\.ts$/;

function missingPaths(markdown: string, bases: readonly string[] = BASES): string[] {
  const named = Array.from(markdown.matchAll(/(?<!`)`([\w./-]+)`/g), ([, text = '']) => text);
  const paths = named.filter((text) => /\w\/|\w\.(?:ts|mjs|json|md)$/.test(text) && !text.startsWith('parley-a2a/'));
  return paths.filter(
    (path) =>
      !(EXAMPLES.test(path) || NEW_FILES.test(path) || bases.some((base) => existsSync(`${root}/${base}${path}`))),
  );
}

it('CONTRIBUTING.md names files that exist', () => {
  expect(missingPaths(read('CONTRIBUTING.md'))).toEqual([]);
  expect(missingPaths('`codec/gone.ts` and `codec/protocol-versions.ts`')).toEqual(['codec/gone.ts']);
});

it.each(['ARCHITECTURE.md', ...readdirSync(`${root}/docs/decisions`).map((name) => `docs/decisions/${name}`)])(
  '%s names files that exist',
  (document) => {
    expect(missingPaths(read(document))).toEqual([]);
  },
);

it.each(['client', 'server/execution', 'store'])('the page of the room %s names files that exist', (room) => {
  const folder = `packages/parley/src/${room}/`;
  const bases = [...BASES, 'packages/parley/src/server/', folder];
  expect(missingPaths(read(`${folder}README.md`), bases)).toEqual([]);
});

it('the page of the helpers of unit tests names each of them, and no other', () => {
  const folder = 'packages/parley/test';
  const named = Array.from(read(`${folder}/README.md`).matchAll(/`([\w-]+\.ts)`/g), ([, name]) => name);
  expect(named.toSorted()).toEqual(
    readdirSync(`${root}/${folder}`)
      .filter((name) => name.endsWith('.ts'))
      .toSorted(),
  );
});

it('CONTRIBUTING.md names each command of the repository, and no other', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const named = read('CONTRIBUTING.md').matchAll(/`npm (?:run )?([\w:-]+)[^`]*`/g);
  const commands = new Set(Array.from(named, ([, name = '']) => name));
  expect([...commands].sort()).toEqual(
    [...Object.keys(scripts).filter((name) => name !== 'postinstall'), 'install'].sort(),
  );
});

it('each script of the repository begins with a comment about its purpose', () => {
  const scripts = readdirSync(`${root}/scripts`).filter((name) => name.endsWith('.mjs'));
  expect(scripts.filter((name) => !read(`scripts/${name}`).startsWith('// '))).toEqual([]);
});

/** Scripts that run once the packages are installed. */
const AFTER_INSTALLATION = [
  'api-report.mjs: typescript',
  'reference-comments.mjs: typescript',
  'transpile.mjs: esbuild',
];

it('scripts of the repository use no installed packages before they are installed', () => {
  const scripts = readdirSync(`${root}/scripts`).filter((name) => name.endsWith('.mjs'));
  const imports = scripts.flatMap((name) =>
    Array.from(
      read(`scripts/${name}`).matchAll(/^(?:import|\} from) .*?'([^']+)';$/gm),
      ([, from = '']) => `${name}: ${from}`,
    ),
  );
  expect(imports.filter((text) => !/: (?:node:|\.\/)/.test(text))).toEqual(AFTER_INSTALLATION);
});
