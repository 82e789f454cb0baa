import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const exportsFolder = fileURLToPath(new URL('../../packages/parley/src/exports/', import.meta.url));

const guide = readFileSync(join(root, 'docs/performance.md'), 'utf8');

/** Compares a size with the one that the guide tells, in whole kB. */
function expectTold(sentence: RegExp, bytes: number): void {
  expect(Math.abs(Number(sentence.exec(guide)?.[1]) - bytes / 1024)).toBeLessThanOrEqual(1);
}

interface LoadedFiles {
  readonly inputs: readonly string[];
  readonly compressed: number;
  /** The part of `compressed` that each room of the core takes, by the share of its minified code. */
  readonly rooms: ReadonlyMap<string, number>;
}

/** The files that a program loads before it runs: its modules, without those that it loads on demand. */
async function loadedAtOnce(program: string, platform: 'browser' | 'node'): Promise<LoadedFiles> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: root, sourcefile: 'program.ts' },
    alias: Object.fromEntries(
      ['client', 'node', 'server'].map((name) => [`parley-a2a/${name}`, `${exportsFolder}${name}.ts`] as const),
    ),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform,
    minify: true,
    write: false,
    metafile: true,
    outdir: 'out',
    // Packages that an application adds itself.
    external: ['ioredis', 'jose', 'oauth4webapi'],
    logLevel: 'silent',
  });
  const loaded = new Set<string>();
  const load = (output: string): void => {
    const file = metafile.outputs[output];
    if (file === undefined || loaded.has(output)) return;
    loaded.add(output);
    for (const { path, kind } of file.imports) if (kind === 'import-statement') load(path);
  };
  load('out/stdin.js');
  const files = outputFiles.filter(({ path }) => [...loaded].some((output) => path.endsWith(output)));
  expect(files).toHaveLength(loaded.size);
  const inputs = [...loaded].flatMap((output) => Object.keys(metafile.outputs[output]?.inputs ?? {}));
  const code = Buffer.concat(files.map(({ contents }) => contents));
  const compressed = gzipSync(code, { level: 9 }).length;
  const rooms = new Map<string, number>();
  for (const output of loaded) {
    for (const [path, { bytesInOutput }] of Object.entries(metafile.outputs[output]?.inputs ?? {})) {
      const room = /parley\/src\/([^/]+)\//.exec(path)?.[1] ?? 'other';
      rooms.set(room, (rooms.get(room) ?? 0) + (bytesInOutput * compressed) / code.length);
    }
  }
  return { inputs, compressed, rooms };
}

it('a client of the current version loads 24 kB with its checks of arguments, and the rest on demand', async () => {
  const { inputs, compressed } = await loadedAtOnce("export * from 'parley-a2a/client';", 'browser');
  expect(compressed).toBeGreaterThan(5_000);
  expect(compressed).toBeLessThanOrEqual(24 * 1024);
  expect(
    inputs.filter((path) =>
      /codec\/v0|ai-catalog|auth\/credentials|signatures|jose|typebox|validators|ipaddr/.test(path),
    ),
  ).toEqual([]);
});

/** Parts that no server needs before its first request, and packages that stay out of servers. */
const ON_DEMAND = [
  'openapi/page',
  'openapi/host-description',
  'json-schema',
  'landing-page',
  'base-server/base-server.ts',
  'bindings/http-json/http-json-binding',
  'audited-exchange',
  'middleware/cors.ts',
  'observability/readiness',
  'web-socket-port',
  'metrics-endpoint',
  'push/delivery-sender',
  'net/guarded-fetch.ts',
  'auth/schemes',
  'auth/tokens',
  'src/client/',
  'bindings/direct',
  'bindings/grpc',
  'upgraded-sockets',
  'server/conversation',
  'server/task-listing',
  'store/store-backed-tasks',
  'sqlite',
  'typebox',
  'ipaddr.js',
];

it('a server with the smallest agent loads 126 kB with its checks of arguments, and the rest on demand', async () => {
  const agent = "import { createA2AServer } from 'parley-a2a/node'; createA2AServer({ agent: (prompt) => prompt });";
  const { inputs, compressed } = await loadedAtOnce(agent, 'node');
  process.stdout.write(`the smallest agent: ${(compressed / 1024).toFixed(1)} kB compressed\n`);
  expect(compressed).toBeGreaterThan(40 * 1024);
  expect(compressed).toBeLessThanOrEqual(126 * 1024);
  expectTold(/A server on Node\.js loads (\d+) kB/, compressed);
  expect(inputs.filter((path) => ON_DEMAND.some((name) => path.includes(name)))).toEqual([]);
});

it('a handler of the web with the smallest agent loads 113 kB, and the guide says which rooms take them', async () => {
  const agent = `import { createAgentHandler } from 'parley-a2a/server';
    globalThis.handler = createAgentHandler({ url: 'https://agents.example.com', agent: (prompt) => prompt });`;
  const { compressed, rooms } = await loadedAtOnce(agent, 'browser');
  const measured = [...rooms].filter(([, bytes]) => bytes >= 5 * 1024).sort(([, one], [, other]) => other - one);
  process.stdout.write(`the smallest handler: ${(compressed / 1024).toFixed(1)} kB compressed\n`);
  for (const [room, bytes] of measured) process.stdout.write(`| \`${room}\` | ${(bytes / 1024).toFixed(1)} |\n`);
  expect(compressed).toBeLessThanOrEqual(113 * 1024);
  expectTold(/a server with one agent, (\d+) kB/, compressed);
  const told = new Map(
    [...guide.matchAll(/^ *\| `(\w[\w-]*)` \| ([\d.]+) kB \|/gm)].map(([, room, size]) => [room, Number(size)]),
  );
  expect([...told.keys()].sort()).toEqual(measured.map(([room]) => room).sort());
  const wrong = measured.filter(([room, bytes]) => Math.abs((told.get(room) ?? 0) - bytes / 1024) > 0.5);
  expect(wrong).toEqual([]);
});

it('a bundle in one file has the size that the guide tells, the parts of jose that sign, and no encryption', async () => {
  const { metafile, outputFiles } = await build({
    stdin: { contents: "export { createAgentHandler } from 'parley-a2a/server';", resolveDir: root },
    alias: { 'parley-a2a/server': `${exportsFolder}server.ts` },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: ['node:*'],
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  for (const { contents } of outputFiles)
    expectTold(/One file with all code .*?\shas (\d+) kB/s, gzipSync(contents).length);
  const ofJose = Object.keys(metafile.inputs).filter((path) => path.includes('node_modules/jose/'));
  expect(ofJose.filter((path) => path.includes('/jws/flattened/sign'))).toHaveLength(1);
  expect(ofJose.filter((path) => /jwe\/|jwe_(?:en|de)crypt|jwks\//.test(path))).toEqual([]);
});
