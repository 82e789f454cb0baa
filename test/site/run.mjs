// Builds the site of the documents and tests it, in a real browser too. The last line is `N passed, N failed`. Without
// Chromium or the packages of the site the suite is left out and says so, unless CI is set. Screenshots go to
// .cache/site-screenshots.
import { join } from 'node:path';
import { build } from '../../scripts/build.mjs';
import { hasChromium } from '../../scripts/debian-package.mjs';
import { root, runOwn } from '../../scripts/processes.mjs';
import { installedBeside } from '../../scripts/suite-packages.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const LEFT_OUT = 'The suite of the site is';

const counts = await test();
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);

async function test() {
  const isReady =
    (await hasChromium(LEFT_OUT)) && (await installedBeside(join(root, 'site'), LEFT_OUT, { scripts: false }));
  if (!isReady) return { passed: 0, failed: process.env.CI ? 1 : 0 };
  await build();
  const at = ['--out', '.cache/site', '--root', '/parley/', '--version', 'next'];
  const { code, output } = await runOwn([join(root, 'site/build.mjs'), ...at], { quiet: true });
  process.stdout.write(output.trimEnd().split('\n').slice(-20).join('\n').concat('\n'));
  if (code !== 0) return { passed: 0, failed: 1 };
  return runVitest(['--config', 'test/site/vitest.config.ts', ...process.argv.slice(2)]);
}
