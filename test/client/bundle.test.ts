import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const entry = fileURLToPath(new URL('../../packages/parley/src/exports/client.ts', import.meta.url));
/** What a page that calls agents over the current version loads at most, compressed. */
const MOST_BYTES = 20 * 1024;

it('is small: what the current version needs at once takes 20 kB, and old versions, catalogs, schemes and signatures are loaded when needed', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    minify: true,
    write: false,
    metafile: true,
    outdir: 'out',
  });
  const loaded = new Set<string>();
  const load = (output: string): void => {
    if (loaded.has(output)) return;
    loaded.add(output);
    for (const { path, kind } of metafile.outputs[output]?.imports ?? []) if (kind === 'import-statement') load(path);
  };
  load('out/client.js');
  const files = outputFiles.filter(({ path }) => [...loaded].some((output) => path.endsWith(output)));
  const compressed = files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
  expect(files).toHaveLength(loaded.size);
  expect(compressed).toBeGreaterThan(5_000);
  expect(compressed).toBeLessThanOrEqual(MOST_BYTES);
  const inputs = [...loaded].flatMap((output) => Object.keys(metafile.outputs[output]?.inputs ?? {}));
  expect(
    inputs.filter((path) =>
      /codec\/v0|ai-catalog|auth\/credentials|signatures|jose|typebox|validators|ipaddr/.test(path),
    ),
  ).toEqual([]);
});
