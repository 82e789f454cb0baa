import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { ownSourceOf } from '../support/own-sources.mjs';

const root = new URL('../..', import.meta.url);
const at = (path: string) => fileURLToPath(new URL(path, root));

/** Bundles a worker as for a deployment. esbuild writes a file, because the tests search its stdout for secrets. */
async function bundleWorker(file: string): Promise<string> {
  const outfile = join(mkdtempSync(join(tmpdir(), 'parley-worker-')), 'worker.mjs');
  await build({
    outfile,
    entryPoints: [at(`test/durable-object/worker/${file}`)],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    conditions: ['workerd', 'worker', 'browser'],
    mainFields: ['module', 'main'],
    external: ['cloudflare:workers', 'node:*'],
    plugins: [
      {
        name: 'sources',
        setup: ({ onResolve }) => {
          onResolve({ filter: /^vitest$/ }, () => ({ path: at('test/durable-object/worker/test-runner.ts') }));
          onResolve({ filter: /^parley-a2a/ }, ({ path: name }) => {
            const path = ownSourceOf(name);
            return path === undefined ? undefined : { path };
          });
        },
      },
    ],
  });
  const text = readFileSync(outfile, 'utf8');
  rmSync(dirname(outfile), { recursive: true });
  return text;
}

/** Runs a worker on workerd. `persist`: the folder of the databases. Default: in memory. */
export async function startWorker(
  file: string,
  options: {
    readonly className: string;
    readonly binding: string;
    readonly persist?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly flags?: readonly string[];
  },
): Promise<Miniflare> {
  const { className, binding, persist, env = {}, flags = [] } = options;
  const miniflare = new Miniflare({
    modules: true,
    script: await bundleWorker(file),
    compatibilityDate: '2026-07-01',
    compatibilityFlags: ['enable_request_signal', ...flags],
    bindings: env,
    durableObjects: { [binding]: { className, useSQLite: true } },
    ...(persist !== undefined && { durableObjectsPersist: persist }),
  });
  await miniflare.ready;
  return miniflare;
}
