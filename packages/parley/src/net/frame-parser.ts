/** A frame of an event stream. */
export interface EventFrame {
  readonly data: string;
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  /** The `retry` time before the next connection, in ms. It may have come in an earlier frame without data. */
  readonly retry?: string | undefined;
}

const LF = 10;
const SPACE = 32;
/** The length of `event` and `retry`. */
const LONGEST_NAME = 5;

/**
 * Parses the frames of an event stream (HTML §9.2.6) from chunks of any length. The time is linear in the length of the
 * text for all kinds of lines. Comments, unknown fields and frames without data yield nothing.
 */
export class FrameParser {
  #text = '';
  #at = 0;
  /** The places of the next line ends in the text; -1: there are no more. */
  #cr = -1;
  #lf = -1;
  /** True after a CR: an LF that follows belongs to it. */
  #skipsLf = false;
  /** The beginning of an incomplete line. */
  readonly #line = new LongText();
  #data: string[] = [];
  #event: string | undefined;
  #id: string | undefined;
  #retry: string | undefined;
  #read = 0;

  /** The characters of all lines so far. */
  get read(): number {
    return this.#read;
  }

  /** Adds a chunk. Call it only after `next` has returned all frames of the chunk before. */
  feed(text: string): void {
    this.#text = text;
    this.#at = 0;
    this.#cr = text.indexOf('\r');
    this.#lf = text.indexOf('\n');
  }

  /** The next frame; undefined if it is not complete yet. */
  next(): EventFrame | undefined {
    for (let line = this.#nextLine(); line !== undefined; line = this.#nextLine()) {
      if (line !== '') this.#field(line);
      else {
        const frame = this.#take();
        if (frame !== undefined) return frame;
      }
    }
    return undefined;
  }

  #nextLine(): string | undefined {
    const text = this.#text;
    if (this.#skipsLf && this.#at < text.length) {
      this.#skipsLf = false;
      if (text.charCodeAt(this.#at) === LF) this.#at += 1;
    }
    const at = this.#at;
    // Each line end is searched once: searching both for each line would be quadratic.
    if (this.#cr !== -1 && this.#cr < at) this.#cr = text.indexOf('\r', at);
    if (this.#lf !== -1 && this.#lf < at) this.#lf = text.indexOf('\n', at);
    const isCr = this.#cr !== -1 && (this.#lf === -1 || this.#cr < this.#lf);
    const end = isCr ? this.#cr : this.#lf;
    const piece = text.slice(at, end === -1 ? undefined : end);
    this.#read += piece.length + 1;
    if (end === -1) {
      this.#at = text.length;
      this.#line.add(piece);
      return undefined;
    }
    this.#at = end + 1;
    this.#skipsLf = isCr;
    return this.#line.length === 0 ? piece : this.#line.take(piece);
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    if (colon === 0 || colon > LONGEST_NAME) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value || undefined;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d{1,10}$/.test(value)) this.#retry = value;
  }

  #take(): EventFrame | undefined {
    const [first] = this.#data;
    const frame =
      first === undefined
        ? undefined
        : {
            data: this.#data.length === 1 ? first : this.#data.join('\n'),
            event: this.#event,
            id: this.#id,
            retry: this.#retry,
          };
    this.#event = undefined;
    this.#id = undefined;
    if (frame === undefined) return undefined;
    this.#retry = undefined;
    this.#data = [];
    return frame;
  }
}

/** Number of pieces that are joined in one step: a text that grows by `+=` takes 32 bytes of memory for each piece. */
const PIECES = 1024;

/** Collects a text from pieces of any size. */
export class LongText {
  #blocks: string[] = [];
  #pieces: string[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: string): void {
    if (piece === '') return;
    this.#length += piece.length;
    if (this.#pieces.push(piece) < PIECES) return;
    this.#blocks.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  /** Returns the whole text with its last piece, and begins the next one. */
  take(last = ''): string {
    const whole = this.#blocks.join('') + this.#pieces.join('') + last;
    if (this.#blocks.length > 0) this.#blocks = [];
    this.#pieces = [];
    this.#length = 0;
    return whole;
  }
}
