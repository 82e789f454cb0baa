import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { idsIn, reportMarkdown, reportYaml, transportsIn } from './compliance/report.js';
import { REQUIREMENTS } from './compliance/requirements.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = join(root, 'test/cli');
const report = readFileSync(join(root, 'docs/cli-compliance.yaml'), 'utf8');
const field = (id: string, name: string) =>
  new RegExp(`^ {2}A2ACLI_${id}:\\n(?: {4}.*\\n)*? {4}${name}: (.*)$`, 'm').exec(report)?.[1];

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The test files whose titles contain an id. */
const named = new Map<string, Set<string>>();
for (const file of readdirSync(here, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.ts'),
)) {
  for (const id of idsIn(readFileSync(join(here, file), 'utf8')))
    named.set(id, (named.get(id) ?? new Set()).add(`test/cli/${file}`));
}

describe('the compliance report', () => {
  it('contains every requirement of the specification, in its tier', () => {
    const tiers = Object.values(REQUIREMENTS).map(({ tier }) => tier);
    expect([1, 2, 3].map((tier) => tiers.filter((one) => one === tier).length)).toEqual([39, 15, 12]);
    for (const [id, { tier }] of Object.entries(REQUIREMENTS)) expect(field(id, 'tier'), id).toBe(String(tier));
  });

  it('matches tests, requirements, versions and agents: otherwise run test/cli/compliance/write.mjs', () => {
    const own = [...named].flatMap(([title, files]) => [...files].map((file) => ({ title, file, passed: true })));
    const calls = ['HTTP+JSON', 'JSON-RPC', 'gRPC'].map((name) => `every operation over ${name},`);
    const tests = [
      ...own.filter(({ file }) => !file.endsWith('compliance.test.ts')),
      ...calls.map((title) => ({ title, file: '', passed: true })),
    ];
    const agents = [
      `Parley ${versionOf('packages/parley')}`,
      `@a2a-js/sdk ${versionOf('node_modules/@a2a-js/sdk')}`,
      `a2a-sdk ${/a2a-sdk\S*==(\S+)/.exec(readFileSync(join(here, 'agents/requirements.txt'), 'utf8'))?.[1]} (Python)`,
    ];
    const date = /report_date: "(.*)"/.exec(report)?.[1] ?? '';
    const input = { tests, version: versionOf('packages/cli'), date, agents };
    expect(report).toBe(reportYaml(input));
    expect(readFileSync(join(root, 'docs/cli-compliance.md'), 'utf8')).toBe(reportMarkdown(input));
  });

  it('covers every transport of the specification, and passes all three tiers', () => {
    expect(report).toContain('transports_covered: ["HTTP+JSON", "JSON-RPC", "gRPC"]');
    expect(report.match(/satisfied: true/g)).toHaveLength(3);
    expect(report).toContain('tier_claimed: 3');
    const title = (name: string) => `TX_004: calls every operation over ${name}, with the same results`;
    const tests = ['JSON-RPC', 'gRPC'].map((name) => ({ title: title(name), file: 'x', passed: name === 'gRPC' }));
    expect(transportsIn(tests)).toEqual(['gRPC']);
  });

  it('passes no requirement without a test, and none whose test fails', () => {
    const of = (passed: boolean) =>
      reportYaml({ tests: [{ title: 'SEND_001: sends', file: 'x', passed }], version: '1', date: 'd', agents: ['a'] });
    expect(of(true)).toMatch(/A2ACLI_SEND_001:\n(?: {4}.*\n){4} {4}status: pass/);
    expect(of(false)).toMatch(/A2ACLI_SEND_001:\n(?: {4}.*\n){4} {4}status: fail/);
    expect(of(true)).toMatch(/A2ACLI_SEND_002:\n(?: {4}.*\n){4} {4}status: not_measured/);
    expect(of(true)).toMatch(/tier_claimed: 0/);
  });
});
