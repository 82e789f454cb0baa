import ts from 'typescript';
import { lineOf, nodesOf, type SourceTree, type Violation } from './source-tree.js';

/** The file that makes expressions at run time. It only tries them on one character, or not at all. */
const MAKES_EXPRESSIONS = 'schemas/pattern-parser.ts';

/** Regular expressions of shipped code whose time grows faster than the length of the text. */
export function expressionViolations(tree: SourceTree): Violation[] {
  return tree.shipped.flatMap((file) =>
    nodesOf(file).flatMap((node) => {
      const problem = expressionProblem(node, file.path);
      return problem === undefined ? [] : [{ file: file.path, line: lineOf(file, node), problem }];
    }),
  );
}

function expressionProblem(node: ts.Node, path: string): string | undefined {
  if (ts.isRegularExpressionLiteral(node)) {
    const end = node.text.lastIndexOf('/');
    const slow = slowPart(node.text.slice(1, end), node.text.slice(end + 1));
    return slow && `${node.text} takes more than linear time: ${slow}`;
  }
  const isMade = (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';
  return isMade && path !== MAKES_EXPRESSIONS
    ? 'a regular expression that is made at run time cannot be checked'
    : undefined;
}

/** Characters, as the subset of a sample alphabet. */
type Characters = ReadonlySet<string>;

type Node =
  | { readonly is: 'characters'; readonly set: Characters }
  | { readonly is: 'check'; readonly text: string }
  | { readonly is: 'not-after'; readonly set: Characters }
  | { readonly is: 'ahead'; readonly choices: readonly (readonly Node[])[] }
  | { readonly is: 'group'; readonly choices: readonly (readonly Node[])[] }
  | { readonly is: 'repeat'; readonly node: Node; readonly min: number; readonly max: number };

/** A step of one way through an expression. */
type Step =
  | { readonly is: 'one'; readonly set: Characters }
  | { readonly is: 'loop'; readonly set: Characters; readonly text: string }
  | { readonly is: 'check'; readonly text: string }
  | { readonly is: 'not-after'; readonly set: Characters };

const ALPHABET = [
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCodePoint(code)),
  ...['\u1680', '\u2003', '\u2028', '\u2029', '\u202e', '\u3000', '\ufeff', '世', 'Ω', '😀'],
];
const MOST_WAYS = 20_000;
const UNBOUNDED = 1000;

/**
 * Two quantifiers that match the same characters, with nothing between them that separates them. `undefined` if there
 * are none. A search counts as a quantifier before an expression without an anchor.
 */
export function slowPart(source: string, flags: string): string | undefined {
  try {
    const choices = new ExpressionParser(source, flags).parse();
    for (const way of waysOf(choices)) {
      const problem = slowPair(way, { searches: !flags.includes('y') && !isAnchored(way, flags) });
      if (problem !== undefined) return problem;
    }
    return undefined;
  } catch (error) {
    return error instanceof Unchecked ? error.message : String(error);
  }
}

class Unchecked extends Error {}

function isAnchored([first]: readonly Step[], flags: string): boolean {
  return first?.is === 'check' && first.text === '^' && !flags.includes('m');
}

function slowPair(way: readonly Step[], { searches }: { readonly searches: boolean }): string | undefined {
  const search: Step = { is: 'loop', set: new Set(ALPHABET), text: 'the search for a match' };
  const steps = searches ? [search, ...way] : way;
  for (const [at, later] of steps.entries()) {
    if (later.is !== 'loop' || !steps.slice(at + 1).some(({ is }) => is === 'one' || is === 'check')) continue;
    for (const [from, earlier] of steps.slice(0, at).entries()) {
      if (earlier.is !== 'loop' || !overlap(earlier.set, later.set)) continue;
      const parted = steps.slice(from + 1, at).some((step) => {
        if (step.is === 'one') return !overlap(step.set, earlier.set) || !overlap(step.set, later.set);
        return step.is === 'not-after' && earlier === search && [...later.set].every((sign) => step.set.has(sign));
      });
      if (!parted) return `${earlier.text} and ${later.text} overlap`;
    }
  }
  return undefined;
}

function overlap(one: Characters, other: Characters): boolean {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  for (const sign of small) if (large.has(sign)) return true;
  return false;
}

/** Every way through the choices of an expression. A repeated group is entered at most twice. */
function waysOf(choices: readonly (readonly Node[])[]): Step[][] {
  const ways = choices.flatMap((nodes) =>
    nodes.reduce<Step[][]>((before, node) => joinWays(before, stepsOf(node)), [[]]),
  );
  if (ways.length > MOST_WAYS) throw new Unchecked('it has too many ways to be checked');
  return ways;
}

function joinWays(before: readonly Step[][], after: readonly Step[][]): Step[][] {
  if (before.length * after.length > MOST_WAYS) throw new Unchecked('it has too many ways to be checked');
  return before.flatMap((way) => after.map((more) => [...way, ...more]));
}

function stepsOf(node: Node): Step[][] {
  switch (node.is) {
    case 'characters':
      return [[{ is: 'one', set: node.set }]];
    case 'check':
    case 'not-after':
      return [[node]];
    case 'ahead':
      return [[], ...waysOf(node.choices)].map((way) => [...way, { is: 'check', text: '(?=' }]);
    case 'group':
      return waysOf(node.choices);
    case 'repeat':
      return repeatedSteps(node.node, node.min, node.max);
  }
}

function repeatedSteps(node: Node, min: number, max: number): Step[][] {
  const once = stepsOf(node);
  const absent = min === 0 ? [[]] : [];
  if (max < UNBOUNDED) return [...absent, ...(max === 0 ? [] : once)];
  const single = singleCharacters(once);
  if (single !== undefined) {
    const loop: Step = { is: 'loop', set: single, text: `a quantifier over ${printSet(single)}` };
    return min === 0 ? [[loop]] : [[{ is: 'one', set: single }, loop]];
  }
  return [...absent, ...once, ...joinWays(once, once)];
}

/** The characters of a repetition that is one quantifier: a class, or a group without quantifiers of its own. */
function singleCharacters(ways: readonly (readonly Step[])[]): Characters | undefined {
  if (ways.some((way) => way.some(({ is }) => is === 'loop'))) return undefined;
  const firsts = ways.map((way) => way.find((step) => step.is === 'one')?.set ?? new Set<string>());
  for (const [at, first] of firsts.entries()) {
    if (first.size === 0) throw new Unchecked('it repeats nothing');
    if (firsts.slice(0, at).some((other) => overlap(first, other))) throw new Unchecked('repeated choices overlap');
  }
  return new Set(ways.flatMap((way) => way.flatMap((step) => (step.is === 'one' ? [...step.set] : []))));
}

function printSet(set: Characters): string {
  return JSON.stringify(
    [...set]
      .filter((sign) => sign >= ' ')
      .slice(0, 6)
      .join('') || [...set].slice(0, 3).join(''),
  );
}

/** Parses the syntax of ECMAScript as far as this project uses it. */
class ExpressionParser {
  readonly #source: string;
  readonly #flags: string;
  readonly #sets = new Map<string, Characters>();
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[gyd]/g, '');
  }

  parse(): readonly (readonly Node[])[] {
    const choices = this.#choices();
    if (this.#at < this.#source.length) throw new Unchecked(`it cannot be read at ${this.#at}`);
    return choices;
  }

  #choices(): Node[][] {
    const choices: Node[][] = [[]];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#skip('|')) choices.push([]);
      else choices.at(-1)?.push(this.#quantified(this.#atom()));
    }
    return choices;
  }

  #quantified(node: Node): Node {
    const found = this.#take(/[*+?]|\{(\d+)(,(\d*))?\}/y);
    if (found === undefined) return node;
    this.#skip('?');
    const [sign, low, comma, high] = found;
    if (sign === '*') return { is: 'repeat', node, min: 0, max: Number.POSITIVE_INFINITY };
    if (sign === '+') return { is: 'repeat', node, min: 1, max: Number.POSITIVE_INFINITY };
    if (sign === '?') return { is: 'repeat', node, min: 0, max: 1 };
    const max = comma === undefined ? Number(low) : high === '' ? Number.POSITIVE_INFINITY : Number(high);
    return { is: 'repeat', node, min: Number(low), max };
  }

  #atom(): Node {
    const check = this.#take(/[\^$]|\\[bB]/y)?.[0];
    if (check !== undefined) return { is: 'check', text: check };
    if (this.#skip('(')) return this.#group();
    const found = this.#take(/\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u....|\\x..|\\c.|\\[^1-9k]|[^\\]/suy);
    if (found === undefined) throw new Unchecked('it refers back to a group');
    return { is: 'characters', set: this.#charactersOf(found[0]) };
  }

  #group(): Node {
    const kind = this.#take(/\?(?::|=|!|<=|<!|<\w+>)/y)?.[0] ?? '';
    const choices = this.#choices();
    if (!this.#skip(')')) throw new Unchecked('a group does not end');
    if (kind === '?=' || kind === '?!') return { is: 'ahead', choices };
    if (kind !== '?<=' && kind !== '?<!') return { is: 'group', choices };
    const only = choices.length === 1 && choices[0]?.length === 1 ? choices[0][0] : undefined;
    if (only?.is !== 'characters') throw new Unchecked('it looks behind for more than one character');
    return kind === '?<!' ? { is: 'not-after', set: only.set } : { is: 'check', text: kind };
  }

  #charactersOf(source: string): Characters {
    const known = this.#sets.get(source);
    if (known !== undefined) return known;
    const expression = new RegExp(`^(?:${source})$`, this.#flags);
    const set = new Set(ALPHABET.filter((sign) => expression.test(sign)));
    this.#sets.set(source, set);
    return set;
  }

  #skip(sign: string): boolean {
    if (this.#source[this.#at] !== sign) return false;
    this.#at++;
    return true;
  }

  #take(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#source);
    if (found === null) return undefined;
    this.#at = sticky.lastIndex;
    return found;
  }
}
