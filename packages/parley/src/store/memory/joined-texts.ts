/** Longer texts stay apart, because joining them would copy them. */
const LONG = 2_048;

/** The beginning of a joined text. Without it, a single text would keep the older joined text of its slice alive. */
const BEGIN = ' ';

/** Several texts as one: a long string costs the garbage collector far less than many short ones. */
export class JoinedTexts {
  readonly #text: string;
  /** The end of each text in `#text`. It begins at the end of the one before. */
  readonly #ends: readonly number[];
  /** The long texts at their places. */
  readonly #long: (string | undefined)[] = [];

  /** An absent text is `undefined`. */
  constructor(texts: readonly (string | undefined)[]) {
    const short = [BEGIN];
    let end = BEGIN.length;
    this.#ends = texts.map((text = '', index) => {
      if (text.length > LONG) this.#long[index] = text;
      const joined = text.length > LONG ? '' : text;
      short.push(joined);
      end += joined.length;
      return end;
    });
    this.#text = short.join('');
  }

  /** Returns a text. `undefined` for one that is empty or absent. */
  at(index: number): string | undefined {
    return this.#text.slice(this.#ends[index - 1] ?? BEGIN.length, this.#ends[index] ?? 0) || this.#long[index];
  }
}
