import { isBuiltin } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { hostless, suite } from './packed.js';

const exchanged = `
import { createAgentHandler } from 'parley-a2a/server';
const handler = createAgentHandler({
  url: 'https://agents.example.com',
  agent: async function* (prompt) { yield prompt; yield '!'; },
});
globalThis.call = async () => {
  const request = new Request('https://agents.example.com/a2a/jsonrpc', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: {
      message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
    } }),
  });
  const response = await handler.fetch(request);
  return response.text();
};`;

/** Bundles for a host without Node.js. Modules of Node.js stay external and visible. */
async function bundleCode(code: string, options: BuildOptions = {}) {
  const result = await build({
    stdin: { contents: code, resolveDir: suite.project },
    bundle: true,
    write: false,
    outdir: 'out',
    metafile: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    logLevel: 'silent',
    ...options,
  });
  return { text: result.outputFiles?.[0]?.text ?? '', metafile: result.metafile as Metafile };
}

/** Modules of Node.js that are loaded with the entry, without lazy ones. */
function builtinsLoaded(metafile: Metafile): string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const walk = (path: string): void => {
    const output = metafile.outputs[path];
    if (seen.has(path) || output === undefined) return;
    seen.add(path);
    for (const { path: target, kind } of output.imports) {
      if (kind === 'dynamic-import') continue;
      if (isBuiltin(target)) found.add(target);
      walk(target);
    }
  };
  walk('out/stdin.js');
  return [...found];
}

describe('without Node.js', () => {
  it.each(hostless)('$specifier loads', async ({ specifier }) => {
    const { metafile } = await bundleCode(`export * from '${specifier}';`, {
      format: 'esm',
      splitting: true,
      external: ['node:*'],
    });
    expect(builtinsLoaded(metafile)).toEqual([]);
  });

  it('a module of Node.js would be noticed', async () => {
    const { metafile } = await bundleCode("export * from 'parley-a2a/node';", {
      format: 'esm',
      splitting: true,
      external: ['node:*'],
    });
    expect(builtinsLoaded(metafile)).toContain('node:async_hooks');
  });

  it('an agent answers in a world that has the globals of the web alone', async () => {
    const { text } = await bundleCode(exchanged, { format: 'iife' });
    const web = {
      ...{ AbortController, AbortSignal, Headers, ReadableStream, Request, Response, TextDecoder, TextEncoder, URL },
      ...{
        URLSearchParams,
        atob,
        btoa,
        clearTimeout,
        crypto,
        performance,
        queueMicrotask,
        setTimeout,
        structuredClone,
      },
    };
    const world = createContext(web) as { call?: () => Promise<string> };
    runInContext(text, world);
    expect(runInContext('typeof process + typeof Buffer + typeof require', world)).toBe('undefined'.repeat(3));
    const answer = JSON.parse((await world.call?.()) ?? '') as object;
    expect(answer).toMatchObject({ result: { task: { artifacts: [{ parts: [{ text: 'hello!' }] }] } } });
  });
});

describe('in a bundle', () => {
  it('what is not used is not there', async () => {
    const { text } = await bundleCode(hostless.map(({ specifier }) => `import '${specifier}';`).join('\n'), {
      format: 'esm',
      external: ['node:*'],
    });
    expect(text.replace(/^\/\/.*$/gm, '').trim()).toBe('');
  });

  it('a minimal agent is small', async () => {
    const { text } = await bundleCode(exchanged, { format: 'esm', minify: true });
    const gzipped = gzipSync(text).length;
    process.stdout.write(`bundle of a minimal agent: ${text.length} bytes minified, ${gzipped} gzipped\n`);
    // 8 kB of it are the parts of jose that sign. 8.5 kB are tokens, also of called agents, times of turns, traces,
    // and the console. A bundle in several files loads most of them on demand.
    expect(gzipped).toBeLessThan(163_000);
  });
});
