import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { typeErrorsIn } from '../support/type-errors.js';
import { type Snippet, snippetsOf } from './snippets.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'packages/parley/README.md',
  'site/home.md',
  ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
].filter((path) => path.endsWith('.md') && existsSync(join(root, path)));
/** Documents without code that runs. */
const forDevelopers = [
  'ARCHITECTURE.md',
  ...readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`),
  ...['client', 'server/execution', 'store'].map((room) => `packages/parley/src/${room}/README.md`),
  'packages/parley/test/README.md',
];
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const snippets = documents.flatMap((path) => snippetsOf(path, read(path)));
// Inside the repository, so that imports of packages are found; not tracked.
const folder = join(root, '.cache', `snippets-${process.pid}`);

function fileOf({ document, line }: Snippet): string {
  return join(folder, document.replace(/\W/g, '-'), `line-${line}.ts`);
}

describe('code in the documents', () => {
  for (const snippet of snippets) {
    mkdirSync(dirname(fileOf(snippet)), { recursive: true });
    writeFileSync(fileOf(snippet), `${snippet.code}\nexport {};\n`);
  }
  // The temporary folder of the blocks, which do not empty it.
  const temporary = mkdtempSync(join(tmpdir(), 'parley-docs-'));
  beforeAll(() => void vi.stubEnv('TMPDIR', temporary));
  afterAll(() => {
    vi.unstubAllEnvs();
    for (const path of [folder, temporary]) rmSync(path, { recursive: true, force: true });
  });
  afterEach(() => vi.restoreAllMocks());

  it('is there', () => {
    expect(snippets.length).toBeGreaterThan(10);
    expect(snippets.filter(({ runs }) => runs).length).toBeGreaterThan(3);
  });

  it('has the right types', { timeout: 180_000 }, () => {
    // Packages are those that a reader installs. Files that only a reader has cannot be checked.
    const options = { paths: {}, tsBuildInfoFile: null };
    const errors = typeErrorsIn(folder, { extends: join(root, 'tsconfig.json'), options });
    expect(errors.filter((error) => !error.includes("Cannot find module './"))).toEqual([]);
  });

  it.each(snippets.filter(({ runs }) => runs))('runs and prints what it says: $document:$line', async (snippet) => {
    const printed: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void printed.push(values.join(' ')));
    await import(pathToFileURL(fileOf(snippet)).href);
    if (snippet.prints !== undefined) expect(printed).toEqual(snippet.prints);
  });
});

describe('links in the documents', () => {
  // The README of the package shows what the package holds; its own suite follows its links.
  const linking = [...documents.filter((document) => !document.startsWith('packages/')), ...forDevelopers];
  const links = linking.flatMap((document) =>
    Array.from(read(document).matchAll(/\]\((?!https?:)([^)]+)\)/g), ([, target]) => ({
      document,
      target: target ?? '',
    })),
  );

  it.each(links)('lead somewhere: $document → $target', ({ document, target }) => {
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? join(root, document) : join(root, dirname(document), path);
    expect(existsSync(file)).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(readFileSync(file, 'utf8'))).toContain(anchor);
  });
});

function anchorsOf(markdown: string): string[] {
  return Array.from(markdown.matchAll(/^#+ (.*)$/gm), ([, title]) =>
    (title ?? '')
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-'),
  );
}

describe('the threat model', () => {
  const rows = read('docs/security.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| threat |') && !line.startsWith('| --- |'));

  it('has threats', () => {
    expect(rows.length).toBeGreaterThan(25);
  });

  it.each(rows)('names the tests of a threat, and they exist: %s', (row) => {
    const tests = Array.from((row.split('|')[3] ?? '').matchAll(/`([^`]+)`/g), ([, path]) => path ?? '');
    expect(tests).not.toEqual([]);
    expect(tests.filter((path) => !/(?:^|\/)test\/|\.test\.ts$/.test(path) || !existsSync(join(root, path)))).toEqual(
      [],
    );
  });
});
