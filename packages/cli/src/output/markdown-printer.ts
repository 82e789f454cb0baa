interface Style {
  bold: boolean;
  italic: boolean;
  /** Number of backticks that opened the code; 0 outside of code. */
  code: number;
}

/** Matches the beginning of a line that may still become a heading, a list item, a quote or a fence. */
const UNDECIDED = /^\s{0,8}(?:#{1,6}|[-*+]|\d{1,3}[.)]?|>|`{1,2})?$/;
const FENCE = /^\s{0,3}```/;
const RESET = '\x1b[0m';

/**
 * Turns Markdown into coloured text for a terminal as it arrives. The result does not depend on the chunks. Other text
 * passes unchanged. The caller removes control characters first.
 */
export class MarkdownPrinter {
  readonly #style: Style = { bold: false, italic: false, code: 0 };
  /** The beginning of a line while its kind is undecided; undefined after that. */
  #prefix: string | undefined = '';
  #isHeading = false;
  #inFence = false;
  /** True on a fence line, which is not shown. */
  #onFenceLine = false;
  /**
   * Equal markers whose meaning depends on the next character. They are counted, because a long string would be slow.
   */
  #marker = '';
  #markers = 0;
  #before = ' ';
  #out = '';

  /** Returns the part of the text that is decided. */
  push(text: string): string {
    for (const char of text) this.#take(char);
    return this.#flush();
  }

  /** Returns the rest and resets every style. The printer can be used again. */
  end(): string {
    this.#endLine();
    this.#prefix = '';
    return this.#flush();
  }

  #flush(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #take(char: string): void {
    if (char === '\n') {
      const hidden = this.#onFenceLine || (this.#prefix !== undefined && FENCE.test(this.#prefix));
      if (hidden && !this.#onFenceLine) this.#inFence = !this.#inFence;
      this.#endLine();
      this.#out += hidden ? '' : '\n';
      this.#prefix = '';
    } else if (this.#onFenceLine) return;
    else if (this.#prefix !== undefined) this.#begin(this.#prefix + char);
    else if (this.#inFence) this.#out += char;
    else this.#inline(char);
  }

  #begin(prefix: string): void {
    this.#prefix = prefix;
    if (FENCE.test(prefix)) {
      this.#prefix = undefined;
      this.#onFenceLine = true;
      this.#inFence = !this.#inFence;
      return;
    }
    if (this.#inFence ? /^\s{0,3}`{0,2}$/.test(prefix) : UNDECIDED.test(prefix)) return;
    this.#decide(prefix);
  }

  #decide(prefix: string): void {
    this.#prefix = undefined;
    const [, indent = '', bullet, quote] = /^(\s*)(?:#{1,6}|([-*+])|(>)) $/.exec(prefix) ?? [undefined, undefined];
    if (this.#inFence) this.#out += `\x1b[36m${prefix}`;
    else if (bullet !== undefined) this.#out += `${indent}• `;
    else if (quote !== undefined) this.#out += `${indent}│ `;
    else if (/^\s{0,3}#{1,6} $/.test(prefix)) {
      this.#isHeading = true;
      this.#restyle();
    } else for (const char of prefix) this.#inline(char);
  }

  #inline(char: string): void {
    const isMarker = char === '`' || (char === '*' && this.#style.code === 0);
    if (isMarker && (this.#markers === 0 || this.#marker === char)) {
      this.#marker = char;
      this.#markers += 1;
      return;
    }
    this.#resolve(char);
    if (isMarker) {
      this.#marker = char;
      this.#markers = 1;
    } else {
      this.#out += char;
      this.#before = char;
    }
  }

  /** Decides if the markers before a character are style or text. */
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
    const { code } = this.#style;
    if (code !== 0 && code !== length) return false;
    this.#style.code = code === 0 ? length : 0;
    return true;
  }

  #toggleEmphasis(length: number, next: string): boolean {
    const { bold, italic } = this.#style;
    const [wantsBold, wantsItalic] = [length > 1, length !== 2];
    const isOn = (!wantsBold || bold) && (!wantsItalic || italic);
    const mayOpen = /[\p{L}\p{N}\p{Emoji}"'“([`_]/u.test(next) && !/[\p{L}\p{N}]/u.test(this.#before);
    if (length > 3 || !(isOn ? /\S/.test(this.#before) : mayOpen)) return false;
    if (wantsBold) this.#style.bold = !isOn;
    if (wantsItalic) this.#style.italic = !isOn;
    return true;
  }

  #restyle(): void {
    const { bold, italic, code } = this.#style;
    this.#out += `\x1b[0${bold || this.#isHeading ? ';1' : ''}${italic ? ';3' : ''}${code > 0 ? ';36' : ''}m`;
  }

  #endLine(): void {
    if (this.#prefix !== undefined && this.#prefix !== '' && !FENCE.test(this.#prefix)) this.#decide(this.#prefix);
    this.#resolve(' ');
    const { bold, italic, code } = this.#style;
    if (bold || italic || code > 0 || this.#isHeading || (this.#inFence && !this.#onFenceLine)) this.#out += RESET;
    Object.assign(this.#style, { bold: false, italic: false, code: 0 });
    this.#isHeading = false;
    this.#onFenceLine = false;
    this.#before = ' ';
  }
}
