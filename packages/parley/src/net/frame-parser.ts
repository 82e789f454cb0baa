/** A frame of an event stream. */
export interface EventFrame {
  readonly data: string;
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  /** The time to wait before the next connection, in ms. It may have come in a frame without data before. */
  readonly retry?: string | undefined;
}

const LF = 10;
const SPACE = 32;
/** The length of `event` and `retry`. */
const LONGEST_NAME = 5;

/**
 * Reads the frames of an event stream (HTML §9.2.6) from texts of any length. The work is in proportion to the length
 * of the texts, whatever lines they have. Comments, unknown lines and frames without data give nothing.
 */
export class FrameParser {
  #text = '';
  #at = 0;
  /** The places of the next line ends in the text; -1: there are no more. */
  #cr = -1;
  #lf = -1;
  /** True after a CR: an LF that follows belongs to it. */
  #skipsLf = false;
  /** The beginning of a line whose end has not come. */
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

  /** Takes the next part of the stream. `next` must have returned all frames of the part before. */
  feed(text: string): void {
    this.#text = text;
    this.#at = 0;
    this.#cr = text.indexOf('\r');
    this.#lf = text.indexOf('\n');
  }

  /** The next frame; undefined: more of the stream is needed. */
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
    // Each end is searched once: to search both for each line would be quadratic.
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

/** Pieces that are joined at once: a text that grows by `+=` takes 32 bytes of memory for each of them. */
const PIECES = 1024;

/** A text that comes in pieces, however small they are. */
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

  /** The whole text with its last piece. The next text begins. */
  take(last = ''): string {
    const whole = this.#blocks.join('') + this.#pieces.join('') + last;
    if (this.#blocks.length > 0) this.#blocks = [];
    this.#pieces = [];
    this.#length = 0;
    return whole;
  }
}
