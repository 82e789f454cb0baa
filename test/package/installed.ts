import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { firstMinutesBound } from '../support/first-minutes.js';

/** Prints the packages and MB that an installation put into a folder, and compares them with docs/performance.md. */
export function expectLight(subject: string, folder: string): void {
  const modules = join(folder, 'node_modules');
  const entries = readdirSync(modules, { recursive: true, encoding: 'utf8' });
  const packages = entries.filter(
    (path) =>
      /^(?:.*node_modules\/)?(?:@[^/]+\/)?[^@./][^/]*$/.test(path) && existsSync(join(modules, path, 'package.json')),
  );
  const files = entries.map((path) => statSync(join(modules, path))).filter((entry) => entry.isFile());
  const megabytes = files.reduce((sum, { size }) => sum + size, 0) / 1e6;
  process.stdout.write(`${subject}: ${packages.length} packages, ${megabytes.toFixed(1)} MB\n`);
  expect(packages.length).toBeLessThanOrEqual(firstMinutesBound(`packages of ${subject}`));
  expect(megabytes).toBeLessThanOrEqual(firstMinutesBound(`MB of ${subject}`));
}
