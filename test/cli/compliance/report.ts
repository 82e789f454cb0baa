import { DEFAULTS, REQUIREMENTS, type Requirement } from './requirements.js';

/** A test of a run: its title with those of its suites, and whether it passed. */
export interface ProvedBy {
  readonly title: string;
  readonly file: string;
  readonly passed: boolean;
}

/** The input of a report. */
export interface ReportInput {
  readonly tests: readonly ProvedBy[];
  readonly version: string;
  readonly date: string;
  readonly agents: readonly string[];
}

interface Row extends Requirement {
  readonly id: string;
  readonly result: string;
  readonly evidence: readonly string[];
  readonly why: string;
}

const LOCAL_CODES = [
  'USAGE',
  'CARD_NOT_FOUND',
  'CARD_INVALID',
  'UNREACHABLE',
  'CREDENTIALS_MISSING',
  'AUTH_FAILED',
  'TIMEOUT',
  'INTERNAL',
];

/** Returns the ids of requirements in a title. */
export function idsIn(title: string): string[] {
  return Array.from(title.matchAll(/\b[A-Z]+(?:_[A-Z]+)*_\d{3}\b/g), ([id]) => id).filter((id) => id in REQUIREMENTS);
}

const TRANSPORTS = ['HTTP+JSON', 'JSON-RPC', 'gRPC'];

/** Returns the transports over which tests have called every operation. */
export function transportsIn(tests: readonly ProvedBy[]): readonly string[] {
  return TRANSPORTS.filter((name) => {
    const own = tests.filter(({ title }) => title.includes(`every operation over ${name},`));
    return own.length > 0 && own.every(({ passed }) => passed);
  });
}

/** Returns every requirement with its status. A requirement without a passed test does not pass. */
function rowsOf(tests: readonly ProvedBy[]): Row[] {
  return Object.entries(REQUIREMENTS).map(([id, requirement]) => {
    const own = tests.filter(({ title }) => idsIn(title).includes(id));
    const proved = own.length > 0 && own.every(({ passed }) => passed);
    const shown = proved ? 'pass' : own.length > 0 ? 'fail' : 'not_measured';
    const result = requirement.status ?? shown;
    const why = requirement.note ?? (result === 'pass' ? '' : own.length > 0 ? 'a test fails' : 'no test shows it');
    return { id, ...requirement, result, why, evidence: [...new Set(own.map(({ file }) => file))].sort() };
  });
}

/** Returns the report as YAML, after the template of the specification. */
export function reportYaml({ tests, version, date, agents }: ReportInput): string {
  const rows = rowsOf(tests);
  const tiers = [1, 2, 3].map((tier) => summaryOf(rows, tier));
  const claimed = [...tiers].reverse().findIndex((_, index) => tiers.slice(0, 3 - index).every((one) => one.satisfied));
  const tier = claimed === -1 ? 0 : 3 - claimed;
  const lines = [
    '# Written by test/cli/compliance/write.mjs from a run of the tests; not to be edited.',
    'report:',
    '  tool: parley',
    `  tool_version: ${quote(version)}`,
    '  language: TypeScript',
    '  repository: "not published yet"',
    '  maintainer: "the maintainers of Parley"',
    '  spec_version: "0.2"',
    '  spec_revision: "2026-08-17"',
    '  a2a_versions: ["1.0"]',
    `  report_date: ${quote(date)}`,
    `  agent_tested: ${quote(agents.join('; '))}`,
    '  agent_tck_conformant: unknown',
    `  transports_covered: [${transportsIn(tests).map(quote).join(', ')}]`,
    `  tier_claimed: ${tier}`,
    'summary:',
    ...tiers.flatMap((summary, index) => [
      `  tier_${index + 1}:`,
      ...Object.entries(summary).map(([key, value]) => `    ${key}: ${value}`),
    ]),
    'requirements:',
    ...rows.flatMap((row) => [
      `  A2ACLI_${row.id}:`,
      `    tier: ${row.tier}`,
      `    area: ${row.id.replace(/_\d+$/, '')}`,
      '    spec: "0.2"',
      `    requirement: ${quote(row.text)}`,
      `    status: ${row.result}`,
      `    note: ${quote(row.why)}`,
      `    evidence: ${quote(row.evidence.join(', '))}`,
    ]),
    'default_001_breakdown:',
    ...Object.entries(DEFAULTS).flatMap(([key, flags]) => [
      `  ${key}:`,
      '    shipped: "yes"',
      '    overridable: "yes"',
      `    note: ${quote(flags)}`,
    ]),
    'error_codes:',
    ...LOCAL_CODES.flatMap((code) => [`  A2ACLI_ERR_${code}:`, '    emitted: "yes"', '    note: ""']),
    'attestation:',
    '  reported_by: "the tests of this repository"',
    `  date: ${quote(date)}`,
    '  statement: "Every pass is a run of the tests named as evidence against the agents named above."',
  ];
  return `${lines.join('\n')}\n`;
}

interface Summary {
  readonly total: number;
  readonly pass: number;
  readonly partial: number;
  readonly fail: number;
  readonly not_measured: number;
  readonly na: number;
  readonly satisfied: boolean;
}

function summaryOf(rows: readonly Row[], tier: number): Summary {
  const own = rows.filter((row) => row.tier === tier);
  const count = (result: string) => own.filter((row) => row.result === result).length;
  const [pass, na] = [count('pass'), count('na')];
  return {
    total: own.length,
    pass,
    partial: count('partial'),
    fail: count('fail'),
    not_measured: count('not_measured'),
    na,
    satisfied: pass + na === own.length,
  };
}

/** Returns the report as Markdown. */
export function reportMarkdown(input: ReportInput): string {
  const rows = rowsOf(input.tests);
  const counts = [1, 2, 3].map((tier) => {
    const { total, pass, partial, fail, not_measured, satisfied } = summaryOf(rows, tier);
    return `| ${tier} | ${total} | ${pass} | ${partial} | ${fail} | ${not_measured} | ${satisfied ? 'yes' : 'no'} |`;
  });
  const open = rows.filter(({ result }) => result !== 'pass');
  return `# Compliance of the command line

This page is for people who compare command line clients of A2A. It shows which requirements
\`parley\` meets, of the specification of A2A command line clients, version 0.2 of 2026-08-17.

The tests ran against these agents:

${input.agents.map((agent) => `- ${agent}`).join('\n')}

\`node test/cli/compliance/write.mjs\` writes this page and
[cli-compliance.yaml](cli-compliance.yaml), which has the form of the specification's template.

They ran every operation against Parley over ${transportsIn(input.tests).join(', ')}.

| tier | requirements | pass | partial | fail | not measured | satisfied |
| --- | --- | --- | --- | --- | --- | --- |
${counts.join('\n')}

${missingOf(open)}`;
}

function missingOf(open: readonly Row[]): string {
  if (open.length === 0) return 'No requirement is missing.\n';
  const rows = open.map(
    ({ id, tier, text, result, why }) => `| \`A2ACLI_${id}\`: ${text} | ${tier} | ${result} | ${why} |`,
  );
  return [
    'Missing and partial requirements:',
    '',
    '| requirement | tier | | why |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function quote(text: string): string {
  return JSON.stringify(text);
}
