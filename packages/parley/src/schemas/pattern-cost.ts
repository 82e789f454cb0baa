/** Steps of a search that may be spent on one text. */
const STEPS = 10_000_000;
const LONGEST_TEXT = 65_536;
const LONGEST_PATTERN = 512;

/** A repetition without a fixed number: `*`, `+`, `?`, `{2,}` and `{2,5}`, but not `{2}`. */
const OPEN_ENDED = /^(?:[*+?]|\{\d*,\d*\})/;
const COUNTED = /^\{\d+\}/;

/** The cost of a pattern, or the reason why it has no bound. */
export type PatternCost = { readonly longest: number } | { readonly problem: string };

/**
 * Bounds the time of a regular expression on texts from outside: `longest` is the length of a text that it may be tried
 * on. Each repetition of a pattern multiplies its steps by the length, and so does a start that is not fixed by `^`.
 * Repetitions within repetitions, references and looks around have no such bound.
 */
export function patternCost(pattern: string): PatternCost {
  if (pattern.length > LONGEST_PATTERN) return { problem: `must have at most ${LONGEST_PATTERN} characters` };
  if (/\(\?(?:[=!]|<[=!])/.test(pattern)) return { problem: 'must not look ahead or behind' };
  if (/\\[1-9k]/.test(pattern)) return { problem: 'must not refer to groups' };
  const repetitions = countRepetitions(pattern);
  if (repetitions === undefined) return { problem: 'must not repeat a group that repeats or has alternatives' };
  const degree = repetitions + (isAnchored(pattern) ? 0 : 1);
  return { longest: degree === 0 ? LONGEST_TEXT : Math.min(LONGEST_TEXT, Math.floor(STEPS ** (1 / degree))) };
}

interface Group {
  readonly varies: boolean;
}

/** The repetitions of a pattern. Undefined if one is within another. */
function countRepetitions(pattern: string): number | undefined {
  let count = 0;
  let last: Group = { varies: false };
  const open: { varies: boolean }[] = [{ varies: false }];
  for (let at = 0; at < pattern.length; ) {
    const inner = open.at(-1) ?? { varies: false };
    const rest = pattern.slice(at);
    const repetition = OPEN_ENDED.exec(rest)?.[0];
    const counted = repetition ?? COUNTED.exec(rest)?.[0];
    if (counted !== undefined) {
      if (last.varies) return undefined;
      if (repetition !== undefined) {
        count += 1;
        inner.varies = true;
      }
      last = { varies: repetition !== undefined };
      at += counted.length + (pattern[at + counted.length] === '?' ? 1 : 0);
      continue;
    }
    last = { varies: false };
    const character = pattern[at];
    if (character === '(') open.push({ varies: false });
    if (character === ')') {
      last = open.pop() ?? last;
      const outer = open.at(-1);
      if (outer !== undefined && last.varies) outer.varies = true;
    }
    if (character === '|') inner.varies = true;
    at += lengthOf(rest);
  }
  return count;
}

/** The length of the first element: an escape, a class, the opening of a group, or a character. */
function lengthOf(rest: string): number {
  if (rest.startsWith('(?')) return /^\(\?(?::|<\w+>)?/.exec(rest)?.[0].length ?? 1;
  if (rest.startsWith('[')) return /^\[(?:\\.|[^\]\\])*\]/su.exec(rest)?.[0].length ?? 1;
  if (rest.startsWith('\\')) return /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|.)/su.exec(rest)?.[0].length ?? 1;
  return 1;
}

/** True if every alternative begins at the start. */
function isAnchored(pattern: string): boolean {
  return pattern.startsWith('^') && !pattern.includes('|');
}
