import { PatternParser } from './pattern-parser.js';

/** The step budget of the patterns of a schema for one value. Below 0: the value is too long. */
export interface PatternSteps {
  left: number;
}

/**
 * A node of an automaton. `character` consumes one that the expression fits. `edge` tests the position between two
 * characters. `fork` has several next nodes. `end`: the text matches.
 */
export type PatternNode =
  | { readonly is: 'character'; readonly fits: RegExp; next: number }
  | { readonly is: 'edge'; readonly edge: '^' | '$' | 'b' | 'B'; next: number }
  | { readonly is: 'fork'; next: readonly number[] }
  | { readonly is: 'end' };

/** The kind of a character: of a word, another one, or none at the edge of the text. */
type Kind = 'word' | 'other' | 'none';

/** A set of nodes that a text can have reached, with the kind of its last character. */
interface Place {
  readonly nodes: readonly number[];
  readonly before: Kind;
  /** The next sets by character. `true`: the text matches. */
  readonly after: Map<string, Place | true>;
}

/** Maximum number of cached nodes and transitions. */
const MOST_REMEMBERED = 65_536;
/** Cost of a new transition, in steps for each node. A cached transition costs one step. */
const NEW_STEPS = 16;
const WORD = /^\w$/;
/** No character: the end of the text. */
const END = '';

/**
 * A regular expression of ECMAScript (flag `u`) without backtracking. It follows all alternatives at once, so its time
 * is linear in the text for every expression.
 */
export class LinearPattern {
  readonly #nodes: readonly PatternNode[];
  readonly #start: number;
  #places = new Map<string, Place>();
  #remembered = 0;

  /** @throws SyntaxError if it is no regular expression; PatternRefusal if it cannot be followed in this way. */
  constructor(source: string) {
    const { nodes, start } = new PatternParser(source).parse();
    this.#nodes = nodes;
    this.#start = start;
  }

  /** True if a part of the text matches. False as well if no steps are left. */
  test(text: string, steps: PatternSteps): boolean {
    let place: Place | true = this.#place([this.#start], 'none');
    for (const character of text) {
      place = this.#after(place, character, steps);
      if (place === true || steps.left < 0) return place === true;
    }
    return this.#after(place, END, steps) === true;
  }

  #after(place: Place, character: string, steps: PatternSteps): Place | true {
    steps.left -= 1;
    const known = place.after.get(character);
    if (known !== undefined) return known;
    const after = kindOf(character);
    const reached = new Set<number>(place.nodes);
    const next = new Set<number>([this.#start]);
    let matches = false;
    for (const at of reached) {
      const node = this.#nodes[at];
      if (node?.is === 'end') matches = true;
      else if (node?.is === 'fork') for (const one of node.next) reached.add(one);
      else if (node?.is === 'edge' && isAtEdge(node.edge, place.before, after)) reached.add(node.next);
      else if (node?.is === 'character' && after !== 'none' && node.fits.test(character)) next.add(node.next);
    }
    steps.left -= NEW_STEPS * reached.size;
    const found =
      matches ||
      this.#place(
        [...next].sort((a, b) => a - b),
        after,
      );
    place.after.set(character, found);
    this.#remembered += 1;
    return found;
  }

  #place(nodes: readonly number[], before: Kind): Place {
    const key = `${before} ${nodes.join(' ')}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place: Place = { nodes, before, after: new Map() };
    if (this.#remembered > MOST_REMEMBERED) {
      this.#places = new Map();
      this.#remembered = 0;
    }
    this.#places.set(key, place);
    this.#remembered += nodes.length;
    return place;
  }
}

function kindOf(character: string): Kind {
  if (character === END) return 'none';
  return WORD.test(character) ? 'word' : 'other';
}

function isAtEdge(edge: '^' | '$' | 'b' | 'B', before: Kind, after: Kind): boolean {
  if (edge === '^') return before === 'none';
  if (edge === '$') return after === 'none';
  return ((before === 'word') !== (after === 'word')) === (edge === 'b');
}
