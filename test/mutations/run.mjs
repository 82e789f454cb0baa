// Puts one fault after the other into the rules of storages. The contract of each storage must notice it. The long form
// tries all faults; the short one tries two on the storage in memory. An argument names one storage. The last line is
// `N passed, N failed`.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram } from '../../scripts/debian-package.mjs';
import { ownNode, root, run, temporaryFolder } from '../../scripts/processes.mjs';
import { installedBeside } from '../../scripts/suite-packages.mjs';
import { countLine } from '../../scripts/suites.mjs';
import { BACKENDS } from './backends.mjs';
import { MUTATIONS } from './mutations.mjs';

const COPIED = [
  ...['packages/parley/src', 'packages/parley/package.json', 'packages/postgres/src', 'packages/redis/src'],
  ...['packages/parley/test', 'packages/durable-object/src'],
  ...['scripts', 'test'],
];
const SETTINGS = ['package.json', 'tsconfig.json', 'tsconfig.base.json', 'vitest.config.ts'];
const LIMIT_MS = 180_000;

const isLong = process.env.TEST_LONG !== undefined;
const [only] = process.argv.slice(2);
const [first, ...others] = MUTATIONS;
const chosen = isLong ? MUTATIONS : [first, others.at(-1)];
const backends = [];
for (const [name, { args, program, packages }] of Object.entries(BACKENDS)) {
  if (only === undefined ? !isLong && name !== 'memory' : name !== only) continue;
  if (program !== undefined && !(await hasProgram(program))) continue;
  if (packages !== undefined && !(await installedBeside(join(root, 'test', name), packages))) continue;
  backends.push([name, args]);
}

const folder = temporaryFolder('mutations');
let [passed, failed] = [0, 0];
const note = (isRight, line) => {
  if (isRight) passed += 1;
  else failed += 1;
  process.stdout.write(`${isRight ? 'passed' : 'FAILED'} ${line}\n`);
};
for (const path of [...COPIED, ...SETTINGS]) {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  cpSync(join(root, path), join(folder, path), { recursive: true });
}
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
for (const [name, args] of backends) {
  const plain = await contract(args);
  note(plain.code === 0, `${name}: the contract without a fault`);
  if (plain.code !== 0) {
    process.stdout.write(plain.output);
    continue;
  }
  for (const [rule, text, fault] of chosen) {
    const path = join(folder, 'packages/parley/src/store/rules', `${rule}.ts`);
    const source = readFileSync(path, 'utf8');
    if (source.split(text).length !== 2) {
      note(false, `${rule}: the text stands there ${source.split(text).length - 1} times: ${text}`);
      continue;
    }
    writeFileSync(path, source.replace(text, fault));
    // A file that does not load is no failed test.
    note(/Tests .*\d+ failed/.test((await contract(args)).output), `${name}: ${rule}: ${text.replaceAll(/\s+/g, ' ')}`);
    writeFileSync(path, source);
  }
}
process.stdout.write(`${countLine({ passed, failed })}\n`);
process.exitCode = failed === 0 ? 0 : 1;

function contract(args) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const all = [vitest, 'run', `--root=${folder}`, '--bail=1', '--reporter=dot', ...args];
  return run(ownNode, all, { silenceMs: LIMIT_MS, quiet: true, env: { NO_COLOR: '1', FORCE_COLOR: '0' } });
}
