import { readFileSync } from 'node:fs';

/** A value as JSON has it. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [name: string]: Json };

/** One message of a scenario and what it leads to; the values are patterns for `mismatches`. */
export interface Turn {
  readonly send: { readonly messageId?: string; readonly parts: readonly Json[] };
  readonly atLeastMs?: number;
  /** The events of the message's stream; absent where the agent offers no streaming. */
  readonly stream?: readonly Json[];
  /** The task afterwards. */
  readonly task?: Json;
  /** The direct answer, where there is no task. */
  readonly message?: Json;
}

/** A promise of an example agent. The suites of all clients read the same table. */
export interface Scenario {
  readonly name: string;
  readonly agents: readonly string[];
  /** Takes so long that one way of sending is enough. */
  readonly once?: boolean;
  readonly turns: readonly Turn[];
}

interface ScenarioFile {
  readonly leaks: readonly string[];
  readonly scenarios: readonly Scenario[];
}

const file = JSON.parse(readFileSync(new URL('scenarios.json', import.meta.url), 'utf8')) as ScenarioFile;

/** Every scenario of the example agents. */
export const SCENARIOS = file.scenarios;
/** Texts that must not be in an error answer. */
export const LEAKS = file.leaks.map((pattern) => new RegExp(pattern));

/**
 * The differences of a value from a pattern. Objects may have further members, arrays must have the same length. `null`
 * means absent. A text that begins with `re:` is a regular expression.
 */
export function mismatches(pattern: Json, value: Json, path = ''): string[] {
  const differs = () => [`${path || 'value'}: expected ${JSON.stringify(pattern)}, got ${JSON.stringify(value)}`];
  if (pattern === null || pattern === undefined) return value === undefined || value === null ? [] : differs();
  if (typeof pattern === 'string' && pattern.startsWith('re:')) {
    return typeof value === 'string' && new RegExp(pattern.slice(3)).test(value) ? [] : differs();
  }
  if (typeof pattern !== 'object') return Object.is(pattern, value) ? [] : differs();
  if (isArray(pattern)) {
    if (!isArray(value) || value.length !== pattern.length) return differs();
    return pattern.flatMap((item, index) => mismatches(item, value[index], `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null || isArray(value)) return differs();
  return Object.entries(pattern).flatMap(([name, member]) => mismatches(member, value[name], `${path}.${name}`));
}

/** Narrows to an array. */
export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}
