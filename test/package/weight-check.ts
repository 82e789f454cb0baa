import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { firstMinutesBound } from '../support/first-minutes.js';
import { median } from '../support/median.js';
import { NpmRegistry } from '../support/servers/npm-registry.js';
import { expectLight } from './installed.js';
import { inProject, repository, suite, tarballOf } from './packed.js';

const ROUNDS = 7;
const INSTALLS = 5;
const LONG = { timeout: 600_000 };
const npm = promisify(execFile);
const FLAGS = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];

/** The CPU time in ms of a process that imports modules, as seen from a folder. */
async function importMs(folder: string, modules: readonly string[]): Promise<number> {
  const code = [
    ...modules.map((module) => `await import('${module}');`),
    'const { user, system } = process.cpuUsage();',
    'console.log((user + system) / 1000);',
  ];
  const { output } = await inProject(process.execPath, ['--input-type=module', '--eval', code.join('\n')], folder);
  return Number(output);
}

it('the root loads in no more CPU time than the server, the client and Express of the official SDK', async () => {
  const official = ['@a2a-js/sdk/server', '@a2a-js/sdk/server/express', '@a2a-js/sdk/client', 'express'];
  const rounds: { bare: number; own: number; theirs: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({
      bare: await importMs(suite.project, []),
      own: await importMs(suite.project, ['parley-a2a']),
      theirs: await importMs(repository, official),
    });
  const bare = median(rounds.map((round) => round.bare));
  const own = median(rounds.map((round) => round.own)) - bare;
  const theirs = median(rounds.map((round) => round.theirs)) - bare;
  process.stdout.write(
    `import: ${own.toFixed(0)} ms beyond ${bare.toFixed(0)} of Node.js; theirs ${theirs.toFixed(0)}\n`,
  );
  const most = firstMinutesBound('importing the library, divided by importing `@a2a-js/sdk` with Express');
  expect(own / theirs).toBeLessThanOrEqual(most);
});

/** The time in ms in which npm installs packages into an empty folder, from its cache as far as it can. */
async function installMs(name: string, packages: readonly string[], registry: string): Promise<number> {
  const place = join(suite.project, '..', name);
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
  const begun = performance.now();
  await npm('npm', ['install', ...packages, ...FLAGS, '--registry', registry], { cwd: place, timeout: 240_000 });
  const ms = performance.now() - begun;
  rmSync(place, { recursive: true });
  return ms;
}

const isLong = process.env.TEST_LONG !== undefined;
it.runIf(isLong)('npm installs the library in at most 1.5 times the time of the official SDK', LONG, async () => {
  const text = readFileSync(join(repository, 'package.json'), 'utf8');
  const { devDependencies } = JSON.parse(text) as { readonly devDependencies: Readonly<Record<string, string>> };
  const official = ['@a2a-js/sdk', 'express'].map((name) => `${name}@${devDependencies[name]}`);
  const registry = await NpmRegistry.start(join(suite.project, '../registry-of-weights'));
  const rounds: { own: number; theirs: number }[] = [];
  try {
    await registry.publish([tarballOf('parley-a2a')]);
    // The first round fills the cache of npm and does not count.
    for (let round = 0; round <= INSTALLS; round += 1)
      rounds.push({
        own: await installMs(`own-${round}`, ['parley-a2a'], registry.url),
        theirs: await installMs(`theirs-${round}`, official, registry.url),
      });
  } finally {
    registry.stop();
  }
  const own = median(rounds.slice(1).map((round) => round.own));
  const theirs = median(rounds.slice(1).map((round) => round.theirs));
  process.stdout.write(`npm install: ${own.toFixed(0)} ms; theirs with Express ${theirs.toFixed(0)}\n`);
  const most = firstMinutesBound('installing the library, divided by installing `@a2a-js/sdk` and Express');
  expect(own / theirs).toBeLessThanOrEqual(most);
});

it('the library is few packages and little to install', () => {
  expectLight('the library', suite.project);
});

it('the command line is few packages and little to install', () => {
  expectLight('the command line with the library', suite.commands);
});
