import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type SourceFile, SourceTree } from './source-tree.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = 'test/architecture/database-rules.md';

/** The folders of the backends, and the texts in them that may decide. */
const SQL = new RegExp(
  [
    /\bCASE WHEN\b/,
    /\b(?:lease_end|due|parked|held|ended|log_ended|ready|expires|until|node)\b\s*(?:[<>]|IS\b)/,
    /\bpk (?:>=|<) \$\{/,
  ]
    .map(({ source }) => source)
    .join('|'),
);
const LUA = /\bcall\('/;
const BACKENDS = {
  PostgreSQL: { folder: 'packages/postgres/src', text: SQL },
  Redis: { folder: 'packages/redis/src/storage', text: LUA },
  SQLite: { folder: 'packages/parley/src/store/sqlite', text: SQL },
  'Durable Objects': { folder: 'packages/durable-object/src', text: SQL },
} as const;

/** Values of `store/rules` that backends may use: forms of rows, bounds and times. No decision is among them. */
const FORMS = new Set([
  ...['arrivalAt', 'nextPlace', 'PLACES_PER_MS', 'oldestWaits'],
  ...['boundsOf', 'isLast', 'isWithin', 'LIST_BOUNDS', 'taskOfPage'],
  ...['deliveryHeadOf', 'deliveryValues', 'deliveryQueue', 'storedTask', 'factsOfTask', 'waitingIn'],
  ...['logRetentionMs', 'sweepTimes'],
  ...['REMEMBERED_BYTES', 'REMEMBERED_LIMIT', 'REMEMBERED_SHARES'],
]);

/** The constants, functions and classes of a file with a text that may decide. */
function decidingFunctions({ text }: Pick<SourceFile, 'text'>, pattern: RegExp): readonly string[] {
  return text.split(/^(?=(?:export )?(?:async )?(?:const|function\*?|class) )/m).flatMap((part) => {
    const name = /^(?:export )?(?:async )?(?:const|function\*?|class) (\w+)/.exec(part)?.[1];
    const texts = part.match(/`[^`]*`|'[^'\n]*'/g) ?? [];
    return name !== undefined && texts.some((found) => pattern.test(found)) ? [name] : [];
  });
}

/** Values of the rules that a file imports or exports, and that are no forms. */
function decisionsIn({ text }: Pick<SourceFile, 'text'>): readonly string[] {
  const named = text.matchAll(/^(?:import|export) \{([^}]*)\} from '[^']*\/rules\/[^']*'/gm);
  return [...named].flatMap(([, names = '']) => {
    const values = names.split(',').map((name) => name.trim());
    return values.filter((name) => name !== '' && !name.startsWith('type ') && !FORMS.has(name));
  });
}

/** The rows of the tables of the page by their headings: the statements, and the tests that the row names. */
function tablesOf(page: string): ReadonlyMap<string, { statements: readonly string[]; tests: readonly string[] }> {
  const tables = new Map<string, { statements: string[]; tests: string[] }>();
  let table = { statements: [] as string[], tests: [] as string[] };
  for (const line of page.split('\n')) {
    const heading = /^## (.*)$/.exec(line)?.[1];
    if (heading !== undefined) {
      table = { statements: [], tests: [] };
      tables.set(heading, table);
    }
    const [, statements = '', , tests = ''] = line.startsWith('|') ? line.split('|') : [];
    let file = '';
    for (const [, code = ''] of statements.matchAll(/`([^`]+)`/g)) {
      if (code.endsWith('.ts')) file = code;
      else table.statements.push(`${file} ${code}`);
    }
    table.tests.push(...[...tests.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));
  }
  return tables;
}

const tables = tablesOf(readFileSync(`${root}${PAGE}`, 'utf8'));

describe.each(Object.entries(BACKENDS))('the statements of %s', (name, { folder, text }) => {
  const { shipped } = SourceTree.read(`${root}${folder}`);

  it('stand in the table of the page, if they have a condition on the state of rows', () => {
    const found = shipped.flatMap((file) =>
      decidingFunctions(file, text).map((statement) => `${file.path} ${statement}`),
    );
    expect(tables.get(name)?.statements.toSorted()).toEqual(found.toSorted());
  });

  it('are compared with their rules by tests that exist', () => {
    const tests = tables.get(name)?.tests ?? [];
    expect(tests.filter((path) => !existsSync(`${root}test/${path}`))).toEqual([]);
    expect(tests).not.toEqual([]);
  });
});

describe('a backend', () => {
  const folders = [...Object.values(BACKENDS).map(({ folder }) => folder), 'packages/parley/src/store/memory'];

  it('takes only forms of rows from the rules', () => {
    const files = folders.flatMap((folder) => SourceTree.read(`${root}${folder}`).shipped);
    const engine = SourceTree.read(`${root}packages/parley/src/exports`).file('storage-engine.ts');
    expect(engine).toBeDefined();
    const problems = [...files, ...(engine ? [engine] : [])].flatMap((file) =>
      decisionsIn(file).map((name) => `${file.path} ${name}`),
    );
    expect(problems).toEqual([]);
  });

  it.each([
    ["import { isHeld, type TaskHead } from '../rules/task-head.js';", ['isHeld']],
    ["export {\n  deliveryQueue,\n  olderHalf,\n} from '../store/rules/decide-retention.js';", ['olderHalf']],
    ["import { isHeld } from '../engine/held-turns.js';", []],
  ])('that has %j takes %j', (text, names) => {
    expect(decisionsIn({ text })).toEqual(names);
  });

  it.each([
    ['const A = `SELECT 1 WHERE lease_end <= now`;\nconst B = `SELECT 2`;', SQL, ['A']],
    ["export function f() {\n  return 'x.due IS NULL';\n}", SQL, ['f']],
    ["const READ = `return call('GET', KEYS[1])`;\nconst NODE = 'node';", LUA, ['READ']],
  ])('with %j has statements that may decide', (text, pattern, names) => {
    expect(decidingFunctions({ text }, pattern)).toEqual(names);
  });
});
