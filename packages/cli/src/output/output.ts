/** How results are written. */
export type OutputFormat = 'text' | 'json' | 'jsonl';

/** A stream that text goes to. */
export interface TextSink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** The width of a terminal. */
  readonly columns?: number;
}

/** Where an output writes to. */
export interface OutputSinks {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** Whether stderr may be coloured. */
  readonly colors: boolean;
  /** True if stdout is a terminal that may be coloured. */
  readonly styled?: boolean;
}

/** How much is written, and in which form. */
export interface OutputOptions {
  readonly format?: OutputFormat;
  readonly verbose?: boolean;
}

/** Results on stdout, everything else on stderr. What is written is plain text: it never steers a terminal. */
export class Output {
  readonly format: OutputFormat;
  /** Whether everything is to be shown. */
  readonly verbose: boolean;
  readonly #sinks: OutputSinks;
  /** Whether a line of progress stands. */
  #drawn = false;
  /** The last value of labels that need not be shown twice. */
  readonly #shown = new Map<string, string>();
  /** True if the terminal's cursor stands behind text of stdout. */
  #isMidLine = false;

  constructor(sinks: OutputSinks, { format = 'text', verbose = false }: OutputOptions = {}) {
    this.format = format;
    this.verbose = verbose;
    this.#sinks = sinks;
  }

  get json(): boolean {
    return this.format !== 'text';
  }

  /** Whether a person reads stderr as it is written. */
  get watched(): boolean {
    return this.#sinks.stderr.isTTY === true;
  }

  /** True if a person reads stdout as it is written. */
  get isRead(): boolean {
    return this.#sinks.stdout.isTTY === true && !this.json;
  }

  /** True if stdout may be coloured. */
  get styled(): boolean {
    return this.#sinks.styled === true && !this.json;
  }

  /** The one JSON document of a command. */
  document(value: unknown): void {
    this.#write(`${jsonText(value, this.format === 'json' ? 2 : undefined)}\n`);
  }

  /** One object of many, on a line of its own. */
  line(value: unknown): void {
    this.#write(`${jsonText(value)}\n`);
  }

  /** A `Label: value` line; without a value nothing. */
  field(label: string, value: string | undefined): void {
    if (value === undefined) return;
    this.#write(`${label}: ${onOneLine(harmless(value))}\n`);
  }

  /** The same, but on a terminal not again as long as the label has the same value. */
  fieldOnce(label: string, value: string | undefined): void {
    if (value === undefined || (this.isRead && this.#shown.get(label) === value)) return;
    this.#shown.set(label, value);
    this.field(label, value);
  }

  /** A `Label: value` line on stderr, ahead of the result. */
  announce(label: string, value: string | undefined): void {
    if (value === undefined) return;
    if (this.watched) this.#shown.set(label, value);
    this.note(`${label}: ${value}`);
  }

  /** A label on a line of its own, content, and a blank line. */
  block(label: string, content: string): void {
    this.#write(`${label}:\n${harmless(content).replace(/(?<!\n)\n+$/, '')}\n\n`);
  }

  /** Text as it is, for what comes in pieces and for scripts. */
  raw(text: string): void {
    this.#write(harmless(text));
  }

  /** Text whose control characters are the tool's own colours. */
  styledText(text: string): void {
    this.#write(text);
  }

  /** Something to know, beside the result. */
  note(text: string): void {
    this.#tell(`${harmless(text)}\n`);
  }

  /** Something to worry about. */
  warn(text: string): void {
    this.#tell(`${this.#colored('warning:', 33)} ${harmless(text)}\n`);
  }

  /** What ended the command. */
  fail(text: string): void {
    this.#tell(`${this.#colored('error:', 31)} ${harmless(text)}\n`);
  }

  /**
   * A line that the next output replaces. Only a terminal shows it, and not behind text that waits for its line to end.
   */
  progress(text: string): void {
    if (!this.watched || this.#isMidLine) return;
    this.#drawn = true;
    const line = harmless(text).replaceAll('\n', ' ');
    // A line that wraps could not be replaced.
    const columns = (this.#sinks.stderr.columns || 80) - 1;
    this.#sinks.stderr.write(`\r${line.length > columns ? `${line.slice(0, columns - 1)}…` : line}\x1b[K`);
  }

  /** Takes the line of progress away. */
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

/** JSON in which every character that steers a terminal or turns the direction of text is escaped. */
function jsonText(value: unknown, indent?: number): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, undefined, indent).replaceAll(/[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu, escaped);
}

/** Text of somebody else without what would steer a terminal. */
export function harmless(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, '');
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, (blanks) => (blanks.includes('\n') ? ' ' : blanks));
}
