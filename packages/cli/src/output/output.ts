/** The format of results. */
export type OutputFormat = 'text' | 'json' | 'jsonl';

/** A stream for text. */
export interface TextSink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
}

/** The streams of an output. */
export interface OutputSinks {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** True if stderr may be coloured. */
  readonly colors: boolean;
  /** True if stdout is a terminal that may be coloured. */
  readonly styled?: boolean;
}

/** The amount and format of output. */
export interface OutputOptions {
  readonly format?: OutputFormat;
  readonly verbose?: boolean;
}

/**
 * Writes results to stdout and everything else to stderr. Removes control characters, so output never controls a
 * terminal.
 */
export class Output {
  readonly format: OutputFormat;
  /** True if all details are shown. */
  readonly verbose: boolean;
  readonly #sinks: OutputSinks;
  /** True while a progress line is shown. */
  #drawn = false;
  /** Last values of labels that are not repeated. */
  readonly #shown = new Map<string, string>();
  /** True if the cursor of the terminal is behind text of stdout. */
  #isMidLine = false;

  constructor(sinks: OutputSinks, { format = 'text', verbose = false }: OutputOptions = {}) {
    this.format = format;
    this.verbose = verbose;
    this.#sinks = sinks;
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

  /** Writes the one JSON document of a command. */
  document(value: unknown): void {
    this.#write(`${jsonText(value, this.format === 'json' ? 2 : undefined)}\n`);
  }

  /** Writes an object on a line of its own. */
  line(value: unknown): void {
    this.#write(`${jsonText(value)}\n`);
  }

  /** Writes a `Label: value` line; without a value nothing. */
  field(label: string, value: string | undefined): void {
    if (value === undefined) return;
    this.#write(`${label}: ${onOneLine(harmless(value))}\n`);
  }

  /** Writes a `Label: value` line. A terminal does not repeat it while the value stays the same. */
  fieldOnce(label: string, value: string | undefined): void {
    if (value === undefined || (this.isRead && this.#shown.get(label) === value)) return;
    this.#shown.set(label, value);
    this.field(label, value);
  }

  /** Writes a `Label: value` line to stderr, before the result. */
  announce(label: string, value: string | undefined): void {
    if (value === undefined) return;
    if (this.watched) this.#shown.set(label, value);
    this.note(`${label}: ${value}`);
  }

  /** Writes a label, the content below it, and a blank line. */
  block(label: string, content: string): void {
    this.#write(`${label}:\n${harmless(content).replace(/(?<!\n)\n+$/, '')}\n\n`);
  }

  /** Writes text unchanged, for text in pieces and for scripts. */
  raw(text: string): void {
    this.#write(harmless(text));
  }

  /** Writes text with the tool's own colours. */
  styledText(text: string): void {
    this.#write(text);
  }

  /** Writes a note to stderr. */
  note(text: string): void {
    this.#tell(`${harmless(text)}\n`);
  }

  /** Writes a warning to stderr. */
  warn(text: string): void {
    this.#tell(`${this.#colored('warning:', 33)} ${harmless(text)}\n`);
  }

  /** Writes the error that ended the command. */
  fail(text: string): void {
    this.#tell(`${this.#colored('error:', 31)} ${harmless(text)}\n`);
  }

  /** Shows a line that the next output replaces. Only a terminal shows it, and not behind an open line of text. */
  progress(text: string): void {
    if (!this.watched || this.#isMidLine) return;
    this.#drawn = true;
    const line = harmless(text).replaceAll('\n', ' ');
    // A line that wraps could not be replaced.
    const columns = (this.#sinks.stderr.columns || 80) - 1;
    this.#sinks.stderr.write(`\r${line.length > columns ? `${line.slice(0, columns - 1)}…` : line}\x1b[K`);
  }

  /** Removes the progress line. */
  endProgress(): void {
    if (this.#drawn) this.#sinks.stderr.write('\r\x1b[K');
    this.#drawn = false;
  }

  #write(text: string): void {
    if (text === '') return;
    this.endProgress();
    this.#isMidLine = this.#sinks.stdout.isTTY === true && !text.endsWith('\n');
    this.#sinks.stdout.write(text);
  }

  #tell(text: string): void {
    this.endProgress();
    if (this.#isMidLine && this.watched) this.#write('\n');
    this.#sinks.stderr.write(text);
  }

  #colored(text: string, color: number): string {
    return this.#sinks.colors ? `\x1b[1;${color}m${text}\x1b[0m` : text;
  }
}

/** Writes JSON and escapes characters that control a terminal or the direction of text. */
function jsonText(value: unknown, indent?: number): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, undefined, indent).replaceAll(/[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu, escaped);
}

/** Removes characters that would control a terminal from foreign text. */
export function harmless(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, '');
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, (blanks) => (blanks.includes('\n') ? ' ' : blanks));
}
