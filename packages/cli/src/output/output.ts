import { printableLine, printableText } from 'parley-a2a';
import type { MarkdownTerminal } from './markdown-inline.js';

/** The format of results. */
export type OutputFormat = 'text' | 'json' | 'jsonl';

/** A stream for text. */
interface TextSink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
}

/** The streams of an output. */
export interface OutputSinks {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /**
   * The relation of stdout to stderr. `joined`: both are the same terminal, pipe or file. `piped`: stdout is a pipe
   * whose reader may print to the terminal of stderr, such as `tee`.
   */
  readonly place: 'joined' | 'piped' | 'apart';
  /** True if stderr may be coloured. */
  readonly colors: boolean;
  /** True if stdout is a terminal that may be coloured. */
  readonly styled?: boolean;
  /** True if it supports OSC 8 links. */
  readonly links?: boolean;
}

/** The amount and format of output. */
interface OutputOptions {
  readonly format?: OutputFormat;
  readonly verbose?: boolean;
  /** Texts that are never printed, such as passwords in urls of the settings. */
  readonly hidden?: readonly string[];
}

/**
 * Writes results to stdout and everything else to stderr. Characters that control a terminal or hide text become
 * visible escapes. On stderr, only the tool can begin a line: further lines of a text are indented.
 */
export class Output {
  readonly format: OutputFormat;
  /** True if all details are shown. */
  readonly verbose: boolean;
  readonly #sinks: OutputSinks;
  readonly #hidden: readonly string[];
  /** True while a progress line is visible. */
  #drawn = false;
  /** Last values of labels that are not repeated. */
  readonly #shown = new Map<string, string>();
  /** True if stderr would continue a line of stdout. */
  #isMidLine = false;
  /** The end of the last text in pieces. */
  #end = '';

  constructor(sinks: OutputSinks, { format = 'text', verbose = false, hidden = [] }: OutputOptions = {}) {
    this.format = format;
    this.verbose = verbose;
    this.#sinks = sinks;
    const forms = hidden.flatMap((one) => [
      one,
      encodeURI(one),
      encodeURIComponent(one),
      JSON.stringify(one).slice(1, -1),
    ]);
    this.#hidden = forms.sort((one, other) => other.length - one.length);
  }

  get json(): boolean {
    return this.format !== 'text';
  }

  /** True if stderr is a terminal. */
  get watched(): boolean {
    return this.#sinks.stderr.isTTY === true;
  }

  /** True if stdout is a terminal. */
  get isRead(): boolean {
    return this.#sinks.stdout.isTTY === true && !this.json;
  }

  /** True if stdout may be coloured. */
  get styled(): boolean {
    return this.#sinks.styled === true && !this.json;
  }

  /** The capabilities of stdout for Markdown; undefined if Markdown is printed unchanged. */
  get markdown(): MarkdownTerminal | undefined {
    if (!this.styled) return undefined;
    const { links = false, stdout } = this.#sinks;
    return { links, ...(stdout.columns !== undefined && { columns: stdout.columns }) };
  }

  /** Writes the only JSON document of a command. */
  document(value: unknown): void {
    this.#write(`${jsonText(value, this.format === 'json' ? 2 : undefined)}\n`);
  }

  /** Writes an object as one line. */
  line(value: unknown): void {
    this.#write(`${jsonText(value)}\n`);
  }

  /** Writes a `Label: value` line; nothing without a value. */
  field(label: string, value: string | undefined): void {
    if (value === undefined) return;
    this.#write(`${label}: ${printableLine(value)}\n`);
  }

  /** Writes a `Label: value` line. A terminal does not repeat it while the value stays the same. */
  fieldOnce(label: string, value: string | undefined): void {
    if (value === undefined || (this.isRead && this.#shown.get(label) === value)) return;
    this.#shown.set(label, value);
    this.field(label, value);
  }

  /** Writes a `Label: value` line to stderr. A terminal does not repeat it while the value stays the same. */
  announce(label: string, value: string | undefined): void {
    if (value === undefined || (this.watched && this.#shown.get(label) === value)) return;
    if (this.watched) this.#shown.set(label, value);
    this.note(`${label}: ${value}`);
  }

  /** Writes a label, the content below it, and a blank line. */
  block(label: string, content: string): void {
    this.#write(`${label}:\n${printableText(content).replace(/(?<!\n)\n+$/, '')}\n\n`);
  }

  /** Writes text without a line end, for text in pieces and for scripts. `style` adds colours of the tool. */
  raw(text: string, style: (shown: string) => string = (shown) => shown): void {
    const shown = printableText(text, this.#end);
    this.#end = text.slice(-2) || this.#end;
    this.#write(style(shown));
  }

  /** Writes a table and a blank line. The first row is its head. */
  table(rows: readonly (readonly string[])[]): void {
    const shown = rows.map((row) => row.map(printableLine));
    const widths = shown[0]?.map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0))) ?? [];
    const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
    this.#write(`${shown.map((row) => line(row).trimEnd()).join('\n')}\n\n`);
  }

  /** Writes a note to stderr. */
  note(text: string): void {
    this.#tell(`${indentText(text)}\n`);
  }

  /** Writes a note of several lines without indentation. */
  notes(lines: readonly string[]): void {
    for (const line of lines) this.note(line);
  }

  /** Writes a warning to stderr. */
  warn(text: string): void {
    this.#tell(`${this.#colored('warning:', 33)} ${indentText(text)}\n`);
  }

  /** Writes the error that ended the command. */
  fail(text: string): void {
    this.#tell(`${this.#colored('error:', 31)} ${indentText(text)}\n`);
  }

  /** Shows a line that the next output replaces. Only on a terminal, and not after an unfinished line of text. */
  progress(text: string): void {
    if (!this.watched || this.#isMidLine) return;
    this.#drawn = true;
    const line = printableLine(text);
    // A wrapped line could not be replaced.
    const width = (this.#sinks.stderr.columns || 80) - 1;
    this.#sinks.stderr.write(`\r${line.length > width ? `${line.slice(0, width - 1)}…` : line}\x1b[K`);
  }

  /** Removes the progress line. */
  endProgress(): void {
    if (this.#drawn) this.#sinks.stderr.write('\r\x1b[K');
    this.#drawn = false;
  }

  #write(text: string): void {
    if (text === '') return;
    this.endProgress();
    this.#isMidLine = this.#sinks.place !== 'apart' && !text.endsWith('\n');
    this.#sinks.stdout.write(this.#withoutHidden(text));
  }

  #tell(text: string): void {
    this.endProgress();
    if (this.#isMidLine) this.#beginLine();
    this.#sinks.stderr.write(this.#withoutHidden(text));
  }

  #beginLine(): void {
    if (this.#sinks.place === 'joined') this.#write(this.styled ? '\x1b[0m\n' : '\n');
    else if (this.watched) this.#sinks.stderr.write('\n');
    this.#isMidLine = false;
  }

  #withoutHidden(text: string): string {
    return this.#hidden.reduce((shown, one) => shown.replaceAll(one, '***'), text);
  }

  #colored(text: string, color: number): string {
    return this.#sinks.colors ? `\x1b[1;${color}m${text}\x1b[0m` : text;
  }
}

/** Formats JSON with escapes for invisible characters. */
function jsonText(value: unknown, indent?: number): string {
  return printableText(JSON.stringify(value, undefined, indent));
}

function indentText(text: string): string {
  return printableText(text).replaceAll('\n', '\n  ');
}
