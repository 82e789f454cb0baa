import { defineConfig } from 'vitest/config';

const source = (path: string) => new URL(`packages/parley/src/exports/${path}.ts`, import.meta.url).pathname;

export default defineConfig({
  resolve: {
    // Tests run the sources, not what was built last.
    alias: [
      { find: /^parley-a2a$/, replacement: source('index') },
      { find: /^parley-a2a\/(.+)$/, replacement: source('$1') },
      {
        find: /^parley-a2a-conformance$/,
        replacement: new URL('packages/conformance/src/conformance.ts', import.meta.url).pathname,
      },
    ],
  },
  test: {
    include: ['packages/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    exclude: [
      '**/node_modules/**',
      '**/dist/**',
      'test/hosts/**',
      'test/cache/**',
      'test/client-peers/**',
      'test/traversal/**',
      'test/manifests/**',
      'test/balancers/**',
      'test/postgres/**',
      'test/redis/**',
      'test/chaos/runs/**',
      'test/replicas/**',
      'test/s3/**',
    ],
    setupFiles: [new URL('test/support/watch-outputs.ts', import.meta.url).pathname],
    // Limits for a machine that is busy: a test that holds does not wait for them.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    pool: 'forks',
    // Much of the time is waiting for servers and timers: two files at once also where there are two cores.
    maxWorkers: 2,
  },
});
