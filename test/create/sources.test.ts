import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { typeErrorsIn } from '../support/type-errors.js';
import { allCombinations, filesOf, labelOf, pairsOf, pairwiseCombinations } from './combinations.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

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
      sources.set(join(labelOf(combination), path), text);
    }
  }
  return sources;
}

it('the sources of every combination have the right types', { timeout: 300_000 }, () => {
  // Inside the repository, so that imports of packages are found; not tracked.
  const folder = join(root, '.cache', `created-${process.pid}`);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const sources = distinctSources();
  expect(sources.size).toBeGreaterThan(100);
  const wrong =
    "import type { AgentOptions } from 'parley-a2a/server';\nexport const agent: AgentOptions = { nome: 'x' };\n";
  for (const [path, text] of [...sources, ['planted/agent.ts', wrong] as const]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { compilerOptions } = JSON.parse(filesOf(allCombinations()[0] ?? expect.fail())['tsconfig.json'] ?? '');
  expect(typeErrorsIn(folder, { options: compilerOptions })).toEqual([
    expect.stringMatching(/^planted\/agent\.ts: .*nome/),
  ]);
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
