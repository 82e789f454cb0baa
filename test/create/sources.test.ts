import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { allCombinations, filesOf, labelOf, pairsOf, pairwiseCombinations } from './combinations.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Not on any disk. Packages are those of the repository. */
const place = join(root, '.cache/created');

/** The sources of every combination by path, each text once. The repository does not have Next.js itself. */
function distinctSources(): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  const seen = new Set<string>();
  for (const combination of allCombinations()) {
    const texts = Object.entries(filesOf(combination)).filter(
      ([path]) => path.endsWith('.ts') && path !== 'next.config.ts',
    );
    if (texts.every(([path, text]) => seen.has(`${path}\n${text}`))) continue;
    for (const [path, text] of texts) {
      seen.add(`${path}\n${text}`);
      sources.set(join(place, labelOf(combination), path), text);
    }
  }
  return sources;
}

/** The errors of the compiler in these files, under the options of a project. */
function typeErrors(sources: ReadonlyMap<string, string>): readonly string[] {
  const { compilerOptions } = JSON.parse(filesOf(allCombinations()[0] ?? expect.fail())['tsconfig.json'] ?? '');
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, root);
  const paths = {
    'parley-a2a': ['packages/parley/src/exports/index.ts'],
    'parley-a2a/*': ['packages/parley/src/exports/*.ts'],
    'parley-a2a-*': ['packages/*/src/index.ts'],
  };
  const all = {
    ...options,
    paths: Object.fromEntries(Object.entries(paths).map(([name, to]) => [name, to.map((one) => join(root, one))])),
  };
  const host = ts.createCompilerHost(all);
  const { readFile, fileExists, directoryExists } = host;
  const folders = new Set<string>();
  for (const path of sources.keys())
    for (let folder = dirname(path); folder.length >= place.length; folder = dirname(folder)) folders.add(folder);
  host.readFile = (path) => sources.get(path) ?? readFile(path);
  host.fileExists = (path) => sources.has(path) || fileExists(path);
  host.directoryExists = (path) => folders.has(path) || (directoryExists?.(path) ?? false);
  const program = ts.createProgram([...sources.keys()], all, host);
  return [...sources.keys()].flatMap((path) => {
    const file = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
  });
}

it('the sources of every combination have the right types', { timeout: 300_000 }, () => {
  const sources = distinctSources();
  expect(sources.size).toBeGreaterThan(100);
  const planted = join(place, 'planted/agent.ts');
  const wrong =
    "import type { AgentOptions } from 'parley-a2a/server';\nexport const agent: AgentOptions = { nome: 'x' };\n";
  const errors = typeErrors(new Map([...sources, [planted, wrong]]));
  expect(errors.filter((error) => !error.startsWith(planted))).toEqual([]);
  expect(errors).toHaveLength(1);
});

it('the pairwise set has every pair of answers in few combinations', () => {
  const chosen = pairwiseCombinations();
  expect(new Set(chosen.flatMap(pairsOf))).toEqual(new Set(allCombinations().flatMap(pairsOf)));
  expect(chosen.length).toBeLessThanOrEqual(36);
});

it('the sources are formatted and pass the linter', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-created-'));
  try {
    for (const combination of pairwiseCombinations())
      for (const [path, text] of Object.entries(filesOf(combination))) {
        const file = join(folder, labelOf(combination), path);
        mkdirSync(dirname(file), { recursive: true });
        if (path.endsWith('.ts')) writeFileSync(file, text);
      }
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    const settings = [
      '--vcs-enabled=false',
      '--line-width=120',
      '--javascript-formatter-quote-style=single',
      '--indent-style=space',
    ];
    const run = () =>
      execFileSync(process.execPath, [biome, 'check', ...settings, folder], { encoding: 'utf8', stdio: 'pipe' });
    expect(run()).toMatch(/Checked \d{2,} files/);
    writeFileSync(join(folder, 'planted.ts'), 'const x = "a"');
    expect(run).toThrow();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
