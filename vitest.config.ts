import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { vitestSentence } from './scripts/node-version.mjs';
import { OWN_SOURCES } from './test/support/own-sources.mjs';

const tooOld = vitestSentence();
if (tooOld !== undefined) {
  process.stderr.write(tooOld);
  process.exit(1);
}

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Suites with a `run.mjs` of their own, which starts these tests. */
const WITH_RUNNER = [
  'test/hosts/**',
  'test/durable-object/**',
  'test/cache/**',
  'test/console/**',
  'test/react-chat/**',
  'test/client-peers/**',
  'test/traversal/**',
  'test/manifests/**',
  'test/balancers/**',
  'test/postgres/**',
  'test/redis/**',
  'test/chaos/runs/**',
  'test/replicas/**',
  'test/s3/**',
  'test/site/**',
  'test/tracing/**',
  'test/mutations/**',
];
const IGNORED = ['**/node_modules/**', '**/dist/**', ...WITH_RUNNER];

/**
 * Tests that share a process with those of other files, which saves the start of one for each. A test puts back the
 * globals that it changes; modules are loaded again for each file.
 */
const SHARING = [
  'packages/**/*.test.ts',
  'examples/**/*.test.ts',
  ...[
    'address-guard',
    'agent-calls',
    'ai-sdk',
    'client',
    'credentials',
    'gate',
    'matrix',
    'mcp',
    'message-signing',
    'push',
    'push-receiver',
    'schemas',
    'signing',
    'vectors',
  ].map((folder) => `test/${folder}/**/*.test.ts`),
];

/** Tests among them that judge memory, or times of a storage. */
const JUDGING = [
  'packages/parley/src/server/dropped-streams.test.ts',
  'test/gate/credential-ends.test.ts',
  'test/matrix/{dropped-streams,owner-times}.test.ts',
];

/**
 * Tests with a process of their own. Node.js imports the sources itself, in a quarter of the time of Vite. Only Vite
 * can load modules again in the same process.
 */
export const OWN_PROCESS = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  execArgv: ['--import', file('test/support/import-sources.mjs')],
  setupFiles: [file('test/support/keep-compiled.ts')],
};

export default defineConfig({
  resolve: { alias: OWN_SOURCES },
  test: {
    setupFiles: [file('test/support/watch-outputs.ts')],
    // Limits for a machine that is busy: a test that holds does not wait for them.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    // Later runs need not transform the sources again.
    experimental: { fsModuleCache: true, fsModuleCachePath: file('.cache/vitest') },
    pool: 'forks',
    // Much of the time is waiting for servers and timers: two files at once also where there are two cores.
    maxWorkers: 2,
    // Tests of processes that run beside each other: each of them has several processes.
    maxConcurrency: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts'],
          exclude: [...IGNORED, ...SHARING],
          ...OWN_PROCESS,
        },
      },
      { extends: true, test: { name: 'judging', include: JUDGING, ...OWN_PROCESS } },
      {
        extends: true,
        test: {
          name: 'sharing',
          include: SHARING,
          exclude: [...IGNORED, ...JUDGING],
          isolate: false,
          // After the others: their long files begin first.
          sequence: { groupOrder: 1 },
          setupFiles: ['test/support/fresh-modules.ts'],
        },
      },
    ],
  },
});
