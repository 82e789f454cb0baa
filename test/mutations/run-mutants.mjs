// Makes mutants of the sources, one at a time, and runs the tests that reach it. Prints the mutants that no test
// noticed. `npm run mutants` starts it with an empty folder, which it removes.
import { cpSync, globSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';
import { root } from '../../scripts/processes.mjs';
import { chooseRanges, mutantsOf } from './drawn-mutants.mjs';

const ROOMS = ['server', 'task', 'store/rules', 'store/engine', 'codec', 'auth'];
const COPIED = [
  'packages',
  'scripts',
  'test',
  'package.json',
  'tsconfig.json',
  'tsconfig.base.json',
  'vitest.config.ts',
];
/** Most strings are texts for people. */
const NOT_CHANGED = ['StringLiteral'];
const [folder, count = '300', seed = '1'] = process.argv.slice(2);

const isCopied = (path) => !/\/(?:node_modules|dist|\.parley-[\w-]+)(?:\/|$)/.test(path.slice(root.length));
for (const path of COPIED) cpSync(join(root, path), join(folder, path), { recursive: true, filter: isCopied });
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
const paths = globSync(
  ROOMS.map((room) => `packages/parley/src/${room}/**/*.ts`),
  { cwd: folder },
)
  .filter((path) => !path.endsWith('.test.ts'))
  .toSorted();
const mutate = chooseRanges(await mutantsOf(folder, paths, NOT_CHANGED), Number(count), Number(seed));
process.chdir(folder);
const stryker = new Stryker({
  ...{ testRunner: 'vitest', vitest: { configFile: 'test/mutations/vitest.config.ts', related: false }, mutate },
  plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner'))],
  // A mutant of code that runs at the import of its module would need all tests.
  ...{ inPlace: true, coverageAnalysis: 'perTest', ignoreStatic: true, allowEmpty: true },
  concurrency: availableParallelism(),
  ...{ mutator: { excludedMutations: NOT_CHANGED }, disableTypeChecks: false, timeoutMS: 30_000 },
  ...{ reporters: ['progress-append-only'], dryRunTimeoutMinutes: 30 },
});
tell(await stryker.runMutationTest());

/** Prints the mutants that no test noticed, and the counts. */
function tell(results) {
  let killed = 0;
  const unnoticed = results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  for (const { status } of results) if (['Killed', 'Timeout', 'RuntimeError'].includes(status)) killed += 1;
  const lines = unnoticed.map(({ fileName, location: { start }, mutatorName, replacement, status }) => {
    const path = fileName.slice(fileName.indexOf('packages/'));
    return `${status} ${path}:${start.line}:${start.column} ${mutatorName} ${(replacement ?? '').replaceAll(/\s+/g, ' ').slice(0, 80)}`;
  });
  const left = results.filter(({ status }) => status === 'Ignored').length;
  process.stdout.write(
    `${lines.toSorted().join('\n')}\n${killed} killed, ${unnoticed.length} survived, ${left} of imports left out\n`,
  );
}
