/** The capabilities of a terminal that Markdown uses. */
export interface MarkdownTerminal {
  /** Width in columns. Wider tables become lists. */
  readonly columns?: number;
  /** True if it supports OSC 8 links. Otherwise the address is printed after the text. */
  readonly links?: boolean;
}

/** Text that may become a link. */
interface Link {
  /** The characters so far, printed if it does not become a link. */
  raw: string;
  text: string;
  url: string;
  /** The state of the parser within the link. */
  place: 'bang' | 'text' | 'closed' | 'url' | 'title';
  /** Number of open parentheses in the address. */
  depth: number;
}

/** Maximum length of a link. Longer text is printed unchanged. */
const LONGEST_LINK = 4096;
const LINKED = /^(?:https?:\/\/|mailto:)/i;
/** Link text that looks like an address. Its link could lead elsewhere, so it is not used. */
const ADDRESS = /:\/\/|^(?:mailto:|www\.)|@[\w-]+\.|^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:[:/?#]|$)/i;

/**
 * Converts emphasis, code and links of one line into styles as the characters arrive. The result does not depend on the
 * chunks. The caller removes control characters first.
 */
export class MarkdownInline {
  readonly #terminal: MarkdownTerminal;
  #bold = false;
  #italic = false;
  /** Number of backticks that opened the code; 0 outside of code. */
  #code = 0;
  #isStrong = false;
  /**
   * Consecutive equal markers whose meaning depends on the next character, as a count, because a long string would be
   * slow.
   */
  #marker = '';
  #markers = 0;
  #before = ' ';
  #link: Link | undefined;
  #out = '';

  constructor(terminal: MarkdownTerminal = {}) {
    this.#terminal = terminal;
  }

  /** Returns and clears the finished text. */
  take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  /** Makes the line bold, for headings. */
  strengthen(): void {
    this.#isStrong = true;
    this.#restyle();
  }

  push(char: string): void {
    if (this.#link !== undefined) this.#extend(this.#link, char);
    else this.#push(char, true);
  }

  /** Ends the line: closes every style and prints all pending text. */
  endLine(): void {
    this.#dropLink();
    this.#resolve(' ');
    if (this.#bold || this.#italic || this.#code > 0 || this.#isStrong) this.#out += '\x1b[0m';
    this.#bold = false;
    this.#italic = false;
    this.#isStrong = false;
    this.#code = 0;
    this.#before = ' ';
  }

  #push(char: string, mayLink: boolean): void {
    const isMarker = char === '`' || (char === '*' && this.#code === 0);
    if (isMarker && (this.#markers === 0 || this.#marker === char)) {
      this.#marker = char;
      this.#markers += 1;
      return;
    }
    this.#resolve(char);
    if (isMarker) {
      this.#marker = char;
      this.#markers = 1;
    } else if (mayLink && this.#code === 0 && (char === '[' || char === '!')) {
      this.#link = { raw: char, text: '', url: '', place: char === '!' ? 'bang' : 'text', depth: 0 };
    } else {
      this.#out += char;
      this.#before = char;
    }
  }

  #extend(link: Link, char: string): void {
    const isTooLong = link.raw.length >= LONGEST_LINK;
    const { place } = link;
    if (isTooLong || (char === '[' && place !== 'bang' && place !== 'url' && place !== 'title')) {
      this.#dropLink();
      this.#push(char, true);
      return;
    }
    link.raw += char;
    if (place === 'bang' && char === '[') link.place = 'text';
    else if (place === 'text') {
      if (char === ']') link.place = 'closed';
      else link.text += char;
    } else if (place === 'closed' && char === '(') link.place = 'url';
    else if (place === 'title') {
      if (char === ')') this.#endLink(link);
    } else if (place === 'url' && char === ' ' && link.url !== '') link.place = 'title';
    else if (place === 'url' && char === ')' && link.depth === 0) this.#endLink(link);
    else if (place === 'url' && char.trim() !== '') {
      link.depth += char === '(' ? 1 : char === ')' ? -1 : 0;
      link.url += char;
    } else {
      // The character may itself begin a style or a link.
      link.raw = link.raw.slice(0, -char.length);
      this.#dropLink();
      this.#push(char, true);
    }
  }

  /** Prints the text of an abandoned link. */
  #dropLink(): void {
    const raw = this.#link?.raw ?? '';
    this.#link = undefined;
    for (const char of raw) this.#push(char, false);
  }

  #endLink(link: Link): void {
    const { text, url } = link;
    if (!LINKED.test(url) || text.trim() === '') return this.#dropLink();
    this.#link = undefined;
    const isSame = text === url;
    if (this.#terminal.links === true && (isSame || !ADDRESS.test(text))) {
      this.#out += `\x1b]8;;${encodeURI(url).replaceAll('%25', '%')}\x1b\\`;
      this.#text(text);
      this.#out += '\x1b]8;;\x1b\\';
    } else {
      this.#text(text);
      if (!isSame) this.#text(` (${url})`);
    }
  }

  #text(text: string): void {
    for (const char of text) this.#push(char, false);
    this.#resolve(' ');
  }

  /** Decides whether the markers before a character are style or text. */
  #resolve(next: string): void {
    const [marker, count] = [this.#marker, this.#markers];
    if (count === 0) return;
    this.#markers = 0;
    const isStyle = marker === '`' ? this.#toggleCode(count) : this.#toggleEmphasis(count, next);
    if (isStyle) this.#restyle();
    else this.#out += marker.repeat(count);
    this.#before = marker;
  }

  #toggleCode(length: number): boolean {
    if (this.#code !== 0 && this.#code !== length) return false;
    this.#code = this.#code === 0 ? length : 0;
    return true;
  }

  #toggleEmphasis(length: number, next: string): boolean {
    const [wantsBold, wantsItalic] = [length > 1, length !== 2];
    const isOn = (!wantsBold || this.#bold) && (!wantsItalic || this.#italic);
    const mayOpen = /[\p{L}\p{N}\p{Emoji}"'“([`_]/u.test(next) && !/[\p{L}\p{N}]/u.test(this.#before);
    if (length > 3 || !(isOn ? /\S/.test(this.#before) : mayOpen)) return false;
    if (wantsBold) this.#bold = !isOn;
    if (wantsItalic) this.#italic = !isOn;
    return true;
  }

  #restyle(): void {
    const isBold = this.#bold || this.#isStrong;
    this.#out += `\x1b[0${isBold ? ';1' : ''}${this.#italic ? ';3' : ''}${this.#code > 0 ? ';36' : ''}m`;
  }
}
