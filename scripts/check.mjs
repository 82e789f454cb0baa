// `npm run check`: types of sources and tests, lint and format, and the rules of the house.
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { isMain, main, root, runOwn } from './processes.mjs';
import { countLine, runVitest, sum } from './suites.mjs';

const CHECKS = [
  ['types of sources and tests', ['node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.json']],
  ['types of the console', ['node_modules/typescript-native/bin/tsc', '-p', 'packages/console', '--noEmit']],
  ['types of the chat in React', ['node_modules/typescript-native/bin/tsc', '-p', 'examples/react-chat', '--noEmit']],
  ['lint and format', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']],
];

/** Runs every check, one after the other. Each counts as one. */
export async function check() {
  const counts = { passed: 0, failed: 0 };
  for (const [name, [script, ...args]] of CHECKS) {
    const { code, output } = await runOwn([join(root, script), ...args], { quiet: true });
    if (code === 0) counts.passed++;
    else {
      counts.failed++;
      process.stdout.write(output);
    }
    process.stdout.write(`check: ${name}: ${code === 0 ? 'ok' : 'FAILED'}\n`);
  }
  return counts;
}

if (isMain(import.meta.url)) {
  await main(async () => {
    await ensureInstalled();
    await build();
    const counts = sum([await check(), await runVitest(['test/architecture'])]);
    process.stdout.write(`${countLine(counts)}\n`);
    return counts.failed === 0 ? 0 : 1;
  });
}
