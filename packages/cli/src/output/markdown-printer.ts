import { MarkdownInline, type MarkdownTerminal } from './markdown-inline.js';
import { isDelimiter, layOutTable } from './markdown-table.js';

/** Matches a line start that may still become a heading, a list item, a quote or a fence. */
const UNDECIDED = /^\s{0,8}(?:#{1,6}|[-*+]|\d{1,3}[.)]?|>|`{1,2})?$/;
const FENCE = /^\s{0,3}```/;
const ROW = /^\s{0,8}\|$/;
/** Maximum buffered size of a table, in characters. A table is printed when it ends, or at this size. */
const LARGEST_TABLE = 65_536;

/**
 * Converts Markdown into coloured text for a terminal as it arrives. The result does not depend on the chunks. Other
 * text is unchanged. The caller removes control characters first.
 */
export class MarkdownPrinter {
  readonly #terminal: MarkdownTerminal;
  readonly #inline: MarkdownInline;
  /** The start of a line while its kind is undecided; undefined after that. */
  #prefix: string | undefined = '';
  #inFence = false;
  /** True on a fence line, which is not printed. */
  #onFenceLine = false;
  /** The current line of a table. */
  #row: string | undefined;
  /** Lines of a table, or a line that may be its head. */
  #rows: string[] = [];
  #size = 0;
  #out = '';

  constructor(terminal: MarkdownTerminal = {}) {
    this.#terminal = terminal;
    this.#inline = new MarkdownInline(terminal);
  }

  /** Returns the finished part of the text. */
  push(text: string): string {
    for (const char of text) this.#take(char);
    return this.#flush();
  }

  /** Returns the rest and resets every style. The printer can be used again. */
  end(): string {
    const isRow = this.#row !== undefined;
    this.#endLine();
    if (isRow) this.#endTable();
    this.#prefix = '';
    // The caller ends the line itself.
    return isRow ? this.#flush().replace(/\n$/, '') : this.#flush();
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
      const isRow = this.#row !== undefined;
      this.#endLine();
      this.#out += hidden || isRow ? '' : '\n';
      this.#prefix = '';
    } else if (this.#onFenceLine) return;
    else if (this.#row !== undefined) this.#extendRow(this.#row + char);
    else if (this.#prefix !== undefined) this.#begin(this.#prefix + char);
    else if (this.#inFence) this.#out += char;
    else this.#span(char);
  }

  #begin(prefix: string): void {
    this.#prefix = prefix;
    if (FENCE.test(prefix)) {
      this.#endTable();
      this.#prefix = undefined;
      this.#onFenceLine = true;
      this.#inFence = !this.#inFence;
      return;
    }
    if (this.#inFence ? /^\s{0,3}`{0,2}$/.test(prefix) : UNDECIDED.test(prefix)) return;
    if (!this.#inFence && ROW.test(prefix)) {
      this.#prefix = undefined;
      this.#row = prefix;
    } else this.#decide(prefix);
  }

  #decide(prefix: string): void {
    this.#endTable();
    this.#prefix = undefined;
    const [, indent = '', bullet, quote] = /^(\s*)(?:#{1,6}|([-*+])|(>)) $/.exec(prefix) ?? [undefined, undefined];
    if (this.#inFence) this.#out += `\x1b[36m${prefix}`;
    else if (bullet !== undefined) this.#out += `${indent}• `;
    else if (quote !== undefined) this.#out += `${indent}│ `;
    else if (/^\s{0,3}#{1,6} $/.test(prefix)) {
      this.#inline.strengthen();
      this.#out += this.#inline.take();
    } else this.#span(prefix);
  }

  #span(text: string): void {
    for (const char of text) this.#inline.push(char);
    this.#out += this.#inline.take();
  }

  #extendRow(row: string): void {
    this.#row = row;
    if (this.#size + row.length <= LARGEST_TABLE) return;
    this.#row = undefined;
    this.#endTable();
    this.#span(row);
  }

  /** Buffers a line that may belong to a table. The second line decides. */
  #endRow(row: string): void {
    this.#row = undefined;
    this.#rows.push(row);
    this.#size += row.length + 1;
    if (this.#rows.length === 2 && !isDelimiter(row.trim())) this.#endTable();
  }

  /** Prints the buffered lines. */
  #endTable(): void {
    const rows = this.#rows;
    this.#rows = [];
    this.#size = 0;
    if (rows.length > 1 && isDelimiter(rows[1]?.trim() ?? '')) {
      this.#out += layOutTable(rows, this.#terminal);
      return;
    }
    for (const row of rows) {
      this.#span(row);
      this.#inline.endLine();
      this.#out += `${this.#inline.take()}\n`;
    }
  }

  #endLine(): void {
    if (this.#row !== undefined) return this.#endRow(this.#row);
    if (this.#prefix !== undefined && !FENCE.test(this.#prefix)) {
      if (this.#prefix === '') this.#endTable();
      else this.#decide(this.#prefix);
    }
    this.#inline.endLine();
    this.#out += this.#inline.take();
    if (this.#inFence && !this.#onFenceLine) this.#out += '\x1b[0m';
    this.#onFenceLine = false;
  }
}
