import type { Part } from '../../model/part.js';
import { isPlainText } from '../../task/growing-artifact.js';

/** The places where parts begin and end in an artifact. */
export interface PartsRange {
  readonly from: number;
  readonly to: number;
}

/**
 * A cursor through the parts of an artifact. A place counts the characters of the plain texts before it, plus one for
 * the end of each part. So one part may contain the text of several chunks, and a chunk may contain several parts.
 */
export class PartsCursor implements PartsRange {
  /** The place where the last chunk begins. */
  from = 0;
  readonly #parts: readonly Part[];
  #hasBegun = false;
  #index = 0;
  /** The place where the part begins. */
  #base = 0;
  /** Characters of the current part before the cursor. */
  #offset = 0;

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  /** The place where the last chunk ends. */
  get to(): number {
    return this.#base + this.#offset;
  }

  /** Moves past the parts of a chunk. Returns false if the parts do not come next; then no later chunk matches. */
  advance(parts: readonly Part[]): boolean {
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at] as Part;
      const isContinued = at === 0 && this.#hasBegun && this.#continues(part);
      if (!isContinued && !this.#begins(part)) {
        this.#index = this.#parts.length;
        return false;
      }
      if (at === 0) this.from = this.to;
      this.#offset += sizeOf(part);
    }
    return parts.length > 0;
  }

  /** Returns the parts of a range at or after the cursor. Moves to the end of the range. */
  slice(from: number, to: number): Part[] {
    while (this.#isBefore(from)) this.#next();
    const parts: Part[] = [];
    for (let at = from; ; at = this.#base) {
      const part = this.#parts[this.#index];
      if (part === undefined) throw new RangeError(`The artifact has no part at ${at}`);
      if (isPlainText(part)) parts.push({ text: part.text.slice(at - this.#base, to - this.#base) });
      else parts.push(part);
      if (!this.#isBefore(to)) return parts;
      this.#next();
    }
  }

  #continues(part: Part): boolean {
    const whole = this.#parts[this.#index];
    return (
      isPlainText(part) && whole !== undefined && isPlainText(whole) && whole.text.startsWith(part.text, this.#offset)
    );
  }

  /** Moves to the part if it comes next. */
  #begins(part: Part): boolean {
    if (this.#hasBegun) {
      if (this.#offset !== sizeOf(this.#parts[this.#index])) return false;
      this.#next();
    }
    this.#hasBegun = true;
    const whole = this.#parts[this.#index];
    if (whole === undefined) return false;
    return whole === part || (isPlainText(whole) && isPlainText(part) && whole.text.startsWith(part.text));
  }

  /** True if the place is behind the part. */
  #isBefore(place: number): boolean {
    return place > this.#base + sizeOf(this.#parts[this.#index]);
  }

  #next(): void {
    this.#base += sizeOf(this.#parts[this.#index]) + 1;
    this.#index += 1;
    this.#offset = 0;
  }
}

/** The number of characters of a plain text; 1 for any other part. */
function sizeOf(part: Part | undefined): number {
  return part !== undefined && isPlainText(part) ? part.text.length : 1;
}
