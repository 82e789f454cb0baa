import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
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
    expect(typeErrors(snippets.map(fileOf))).toEqual([]);
  });

  it.each(snippets.filter(({ runs }) => runs))('runs and prints what it says: $document:$line', async (snippet) => {
    const printed: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void printed.push(values.join(' ')));
    await import(pathToFileURL(fileOf(snippet)).href);
    if (snippet.prints !== undefined) expect(printed).toEqual(snippet.prints);
  });
});

/** Checks files with the options of the repository. Imports of files that only a reader has are not checked. */
function typeErrors(files: readonly string[]): string[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config as object;
  const { tsBuildInfoFile: _, ...options } = ts.parseJsonConfigFileContent(config, ts.sys, root).options;
  const program = ts.createProgram(files, { ...options, noEmit: true, declaration: false, incremental: false });
  return files.flatMap((file) => {
    const source = program.getSourceFile(file);
    return ts
      .getPreEmitDiagnostics(program, source)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
      .filter((message) => !message.startsWith("Cannot find module './"))
      .map((message) => `${file.slice(folder.length + 1)}: ${message}`);
  });
}

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
