import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defaultsOfCode } from './defaults-of-code.js';

/** The sources whose defaults a page gives, below `packages/`. configuration.md has a test of its own. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  'ai-sdk': ['ai-sdk/'],
  'audit-log': ['parley/src/adapters/node/file-audit-log.ts'],
  authentication: ['parley/src/auth/'],
  'base-server': ['redis/src/cache/', 'parley/src/exports/node.ts'],
  capnweb: ['capnweb/src/binding/', 'parley/src/bindings/', 'parley/src/app/agent-host.ts'],
  client: ['parley/src/client/', 'grpc/src/index.ts', 'capnweb/src/capnweb-transport.ts'],
  files: ['parley/src/app/files/'],
  grpc: ['grpc/src/server/'],
  mcp: ['mcp/src/'],
  production: ['parley/src/server/engine-limits.ts'],
  'push-receiver': ['parley/src/push/receiver/'],
  push: ['parley/src/push/', 'parley/src/app/push-delivery.ts'],
  signing: ['signing/src/'],
  storage: ['postgres/src/', 'redis/src/storage/', 'parley/src/store/'],
  tools: ['parley/src/tools/'],
};

const UNITS: Readonly<Record<string, number>> = {
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  s: 1000,
  min: 60_000,
  minutes: 60_000,
  hour: 3_600_000,
  hours: 3_600_000,
  days: 86_400_000,
};

interface Claim {
  readonly page: string;
  readonly option: string;
  readonly value: number;
}

/** The numbers in the columns `default` of the tables of a page, each with its option. */
function claimsOf(page: string, text: string): Claim[] {
  const claims: Claim[] = [];
  let header: readonly string[] = [];
  for (const line of text.split('\n')) {
    const cells = line.startsWith('|') ? line.split(/(?<!\\)\|/).slice(1, -1) : [];
    if (header.length === 0 || cells.length === 0) {
      header = cells.map((cell) => cell.trim());
      continue;
    }
    const cellOf = (name: string) => cells[header.indexOf(name)] ?? '';
    const names = cellOf('option') || (cells[0] ?? '');
    const options = Array.from(names.matchAll(/`(\w+)`/g), ([, name = '']) => name);
    const values = cellOf('default')
      .trim()
      .split(/(?<=[^\d]|\d{3,}), |; /);
    for (const [at, option] of options.entries()) {
      const value = numberOf(values[at] ?? values[0] ?? '');
      if (value !== undefined) claims.push({ page, option, value });
    }
  }
  return claims;
}

/** Parses `10`, `60 000` or `8 MiB`. Undefined for any other text. */
function numberOf(text: string): number | undefined {
  const [, digits, unit] = /^`?(\d{1,3}(?:[ ,]?\d{3})*|\d+)`?(?: (\w+))?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const factor = unit === undefined ? 1 : UNITS[unit];
  return factor && Number(digits.replaceAll(/[ ,]/g, '')) * factor;
}

describe('the defaults in tables of docs are those of the code', () => {
  const defaults = defaultsOfCode();
  const pages = globSync('docs/*.md', { cwd: new URL('../../', import.meta.url) })
    .map((path) => path.replaceAll(/docs.|\.md/g, ''))
    .filter((page) => page !== 'configuration');
  const claims = pages.flatMap((page) =>
    claimsOf(page, readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8')),
  );

  it.each(claims)('$page: $option', ({ page, option, value }) => {
    const sources = SOURCES[page] ?? [];
    const own = (defaults.get(option) ?? []).filter(({ file }) => sources.some((source) => file.startsWith(source)));
    expect(own.map((one) => one.value)).toContain(value);
  });

  it('many are found', () => {
    expect(claims.length).toBeGreaterThan(60);
  });

  it('a wrong default is found', () => {
    const table = '| option | default |\n| --- | --- |\n| `attempts`, `timeoutMs` | 1,000, 2 s |\n| `seen` | none |';
    expect(claimsOf('push', table)).toEqual([
      { page: 'push', option: 'attempts', value: 1000 },
      { page: 'push', option: 'timeoutMs', value: 2000 },
    ]);
    expect(defaults.get('attempts')).toContainEqual({ file: 'parley/src/push/delivery-policy.ts', value: 10 });
  });
});
