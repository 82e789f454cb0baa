import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { isBase64 } from '../../packages/parley/src/model/base64.js';
import { COMPILED } from '../../packages/parley/src/model/validators.generated.js';

const source = join(import.meta.dirname, '../../packages/parley/src');

/** The files and packages that a module needs at run time. */
async function neededBy(...modules: readonly string[]) {
  const { metafile } = await build({
    stdin: { contents: modules.map((path) => `import './${path}';`).join('\n'), resolveDir: source, loader: 'ts' },
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'neutral',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const inputs = Object.keys(metafile.inputs);
  const packages = Object.values(metafile.inputs).flatMap((input) =>
    input.imports.filter(({ external }) => external === true).map(({ path }) => path),
  );
  return { inputs, packages };
}

describe('validation and the v1.0 codec at run time', () => {
  test('need no package, neither the schema library nor the compiler', async () => {
    const needed = await neededBy('model/validation.ts', 'codec/v1_0/wire-codec.ts');
    expect(needed.packages).toEqual([]);
    expect(needed.inputs.some((path) => path.endsWith('model/validators.generated.ts'))).toBe(true);
    expect(needed.inputs.filter((path) => path.includes('node_modules'))).toEqual([]);
  });

  test('a schema module would be found out', async () => {
    expect((await neededBy('model/task.ts')).packages).toContain('typebox');
  });

  test.each(['validators', 'type-table', 'json-schema'])('%s.generated.ts makes no code at run time', (name) => {
    const text = readFileSync(join(source, `model/${name}.generated.ts`), 'utf8');
    expect(text).not.toMatch(/\brequire\s*\(|\bnew Function\b|\beval\s*\(|\bimport\s*\(/);
    expect(text).not.toMatch(/from ["'](?!\.\/)/);
  });
});

describe('the cost of validation', () => {
  /** Returns the minimum of several rounds, because other programs slow some of them. */
  function best(rounds: number, round: () => void): number {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < rounds; i++) {
      const start = performance.now();
      round();
      least = Math.min(least, performance.now() - start);
    }
    return least;
  }

  test('a SendMessage takes less than 1 µs', () => {
    const text = JSON.stringify({
      message: {
        messageId: '01912f3c-7c1a-7c33-9d53-2f6f0f0f0f0f',
        contextId: 'c1',
        role: 'ROLE_USER',
        parts: [{ text: 'Wie wird das Wetter morgen in Köln?' }],
      },
      configuration: { acceptedOutputModes: ['text/plain'], returnImmediately: true },
      metadata: { trace: 'x', n: 1 },
    });
    const values = Array.from({ length: 1000 }, (): unknown => JSON.parse(text));
    const ms = best(30, () => {
      for (const value of values) if (!COMPILED.SendMessageRequest(value)) throw new Error('not valid');
    });
    process.stdout.write(`SendMessage validated in ${Math.round(ms * 1000)} ns\n`);
    expect(ms * 1000).toBeLessThan(1000);
  });

  test('base64 takes about the time of one look at each character', () => {
    const large = 'QUJD'.repeat(250_000);
    let sum = 0;
    const look = best(20, () => {
      for (let at = 0; at < large.length; at += 1) sum += large.charCodeAt(at);
    });
    expect(sum).toBeGreaterThan(0);
    const check = best(20, () => isBase64(large));
    expect(check).toBeLessThan(4 * look);
  });
});
