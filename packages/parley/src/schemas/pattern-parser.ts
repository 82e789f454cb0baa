import type { PatternNode } from './linear-pattern.js';

/** The reason why an expression is refused, as the end of a sentence about it. */
export class PatternRefusal extends Error {
  override readonly name = 'PatternRefusal';
}

/** Maximum number of nodes of an expression: `{3}` repeats the nodes of its group three times. */
const MOST_NODES = 5_000;

/**
 * Builds the nodes of an expression. Takes the number of the node after it, and returns the number of its first node.
 */
type Build = (next: number) => number;

const QUANTIFIER = /(?:([*+?])|\{(\d{1,15})(?:(,)(\d{0,15}))?\})\??/y;
const CLASS = /\[(?:\\.|[^\]\\])*\]/suy;
const ESCAPE =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u.{4}|x..|c.|.)/suy;
const GROUP = /\((?:\?(?::|<[^=!>][^>]*>))?/suy;

/** Parses a regular expression of ECMAScript into the nodes of an automaton. */
export class PatternParser {
  readonly #source: string;
  readonly #nodes: PatternNode[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** @throws SyntaxError if it is no regular expression; PatternRefusal if it has no linear time. */
  parse(): { readonly nodes: readonly PatternNode[]; readonly start: number } {
    // The JavaScript engine checks the syntax, so this parser need not.
    new RegExp(this.#source, 'u');
    const build = this.#choices();
    return { start: build(this.#add({ is: 'end' })), nodes: this.#nodes };
  }

  #choices(): Build {
    const choices: Build[] = [];
    do choices.push(this.#sequence());
    while (this.#take('|'));
    const [only] = choices;
    if (choices.length === 1 && only !== undefined) return only;
    return (next) => this.#add({ is: 'fork', next: choices.map((build) => build(next)) });
  }

  #sequence(): Build {
    const builds: Build[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at))) builds.push(this.#term());
    return (next) => builds.reduceRight((after, build) => build(after), next);
  }

  #term(): Build {
    const edge = this.#edge();
    if (edge !== undefined) return (next) => this.#add({ is: 'edge', edge, next });
    const build = this.#atom();
    const [found, sign, low, comma, high] = this.#match(QUANTIFIER) ?? [];
    if (found === undefined) return build;
    if (sign !== undefined)
      return this.#repeat(build, sign === '+' ? 1 : 0, sign === '?' ? 1 : Number.POSITIVE_INFINITY);
    const least = Number(low);
    if (comma === undefined) return this.#repeat(build, least, least);
    return this.#repeat(build, least, high === '' ? Number.POSITIVE_INFINITY : Number(high));
  }

  #repeat(build: Build, least: number, most: number): Build {
    return (next) => {
      let first = next;
      if (most === Number.POSITIVE_INFINITY) {
        const loop: PatternNode & { is: 'fork' } = { is: 'fork', next: [] };
        first = this.#add(loop);
        loop.next = [build(first), next];
      } else {
        for (let count = least; count < most; count += 1) first = this.#add({ is: 'fork', next: [build(first), next] });
      }
      for (let count = 0; count < least; count += 1) {
        const before = this.#nodes.length;
        first = build(first);
        // A repetition of an empty group adds no nodes.
        if (this.#nodes.length === before) break;
      }
      return first;
    };
  }

  #edge(): '^' | '$' | 'b' | 'B' | undefined {
    if (this.#take('^')) return '^';
    if (this.#take('$')) return '$';
    if (this.#take('\\b')) return 'b';
    return this.#take('\\B') ? 'B' : undefined;
  }

  #atom(): Build {
    if (this.#source[this.#at] === '(') return this.#group();
    const escaped = this.#match(ESCAPE)?.[0];
    if (escaped !== undefined && /^\\[1-9k]/.test(escaped)) throw new PatternRefusal('must not refer to groups');
    const text = escaped ?? this.#match(CLASS)?.[0] ?? this.#match(/./suy)?.[0] ?? '';
    const fits = new RegExp(`^${text}$`, 'u');
    return (next) => this.#add({ is: 'character', fits, next });
  }

  #group(): Build {
    const open = this.#match(GROUP)?.[0] ?? '';
    if (open === '(' && this.#source[this.#at] === '?')
      throw new PatternRefusal('must not look ahead or behind, or change flags');
    const build = this.#choices();
    this.#take(')');
    return build;
  }

  #add(node: PatternNode): number {
    if (this.#nodes.length >= MOST_NODES)
      throw new PatternRefusal(`must stand for at most ${MOST_NODES} characters and choices, with its counts`);
    return this.#nodes.push(node) - 1;
  }

  #take(text: string): boolean {
    const isThere = this.#source.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source) ?? undefined;
    if (found !== undefined) this.#at = expression.lastIndex;
    return found;
  }
}
