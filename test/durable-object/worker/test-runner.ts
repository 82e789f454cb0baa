// Replaces vitest within workerd: the contracts import `describe`, `it`, hooks and `expect` from here.
import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend, setState } from '@vitest/expect';

type Work = () => unknown;

interface Suite {
  readonly name: string;
  readonly parent: Suite | undefined;
  readonly before: Work[];
  readonly after: Work[];
}

interface Case {
  readonly name: string;
  readonly suite: Suite;
  readonly run: Work;
}

/** The result of one test. Without an error it has passed. */
export interface TestResult {
  readonly name: string;
  readonly ms: number;
  readonly error?: string;
}

/** A test that hangs must not hide the others. */
const LIMIT_MS = 60_000;

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

export const expect = Object.assign((value: unknown, message?: string) => chai.expect(value, message), chai.expect);
setState({ assertionCalls: 0, isExpectingAssertions: false } as never, expect as never);

const cases: Case[] = [];
let current: Suite = { name: '', parent: undefined, before: [], after: [] };

export function describe(name: string, ...rest: readonly unknown[]): void {
  const parent = current;
  current = { name, parent, before: [], after: [] };
  functionIn(rest)();
  current = parent;
}

export const beforeEach = (work: Work): void => void current.before.push(work);
export const afterEach = (work: Work): void => void current.after.push(work);

function register(name: string, ...rest: readonly unknown[]): void {
  cases.push({ name, suite: current, run: functionIn(rest) });
}

/** Returns the function of a test. Options may precede it, and a time limit may follow it. */
function functionIn(rest: readonly unknown[]): Work {
  const work = rest.find((one) => typeof one === 'function');
  if (work === undefined) throw new TypeError('A test without a function');
  return work as Work;
}

/** Makes a test of each row of a table. `%s` and `%j` are its values in order, `$member` is one of its members. */
const each =
  (rows: readonly unknown[]) =>
  (name: string, run: (...values: readonly unknown[]) => unknown): void => {
    for (const row of rows) {
      const values = Array.isArray(row) ? row : [row];
      let at = 0;
      const title = name
        .replace(/%[sj]/g, () => String(values[at++]))
        .replace(/\$(\w+)/g, (_, member: string) => String((row as Record<string, unknown>)[member]));
      register(title, () => run(...values));
    }
  };

export const it = Object.assign(register, { each });

export const vi = {
  async waitFor(check: () => unknown, { timeout = 15_000 } = {}): Promise<void> {
    const end = Date.now() + timeout;
    for (;;) {
      try {
        return void (await check());
      } catch (error) {
        if (Date.now() > end) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  },
};

/** Runs all tests in order. */
export async function runAll(): Promise<readonly TestResult[]> {
  const results: TestResult[] = [];
  for (const { name, suite, run } of cases) {
    const chain = suitesOf(suite);
    const title = [...chain.map((one) => one.name), name].filter((part) => part !== '').join(' > ');
    const began = Date.now();
    const error = await failureOf(chain, run);
    results.push({ name: title, ms: Date.now() - began, ...(error !== undefined && { error }) });
  }
  return results;
}

async function failureOf(chain: readonly Suite[], run: Work): Promise<string | undefined> {
  let failure: unknown;
  try {
    for (const work of chain.flatMap(({ before }) => before)) await work();
    await Promise.race([run(), timeLimit()]);
  } catch (error) {
    failure = error;
  }
  for (const work of chain.flatMap(({ after }) => after).reverse()) {
    try {
      await work();
    } catch (error) {
      failure ??= error;
    }
  }
  return failure === undefined ? undefined : textOf(failure);
}

function timeLimit(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`The test took longer than ${LIMIT_MS} ms`)), LIMIT_MS);
  });
}

function textOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const { actual, expected } = failure as { actual?: unknown; expected?: unknown };
  const values = expected === undefined ? '' : `\nactual: ${formatValue(actual)}\nexpected: ${formatValue(expected)}`;
  const cause = failure.cause === undefined ? '' : `\ncause: ${String(failure.cause)}`;
  return `${failure.stack}${cause}${values}`;
}

function formatValue(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 2_000);
}

function suitesOf(suite: Suite | undefined): readonly Suite[] {
  return suite === undefined ? [] : [...suitesOf(suite.parent), suite];
}
