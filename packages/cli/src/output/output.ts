/** How results are written. */
export type OutputFormat = 'text' | 'json' | 'jsonl';

/** A stream that text goes to. */
export interface TextSink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Where an output writes to. */
export interface OutputSinks {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** Whether stderr may be coloured. */
  readonly colors: boolean;
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

  /** The one JSON document of a command. */
  document(value: unknown): void {
    this.#sinks.stdout.write(`${JSON.stringify(value, undefined, this.format === 'json' ? 2 : undefined)}\n`);
  }

  /** One object of many, on a line of its own. */
  line(value: unknown): void {
    this.#sinks.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** A `Label: value` line; without a value nothing. */
  field(label: string, value: string | undefined): void {
    if (value === undefined) return;
    this.#sinks.stdout.write(`${label}: ${harmless(value).replaceAll(/\s*\n\s*/g, ' ')}\n`);
  }

  /** A label on a line of its own, content, and a blank line. */
  block(label: string, content: string): void {
    this.#sinks.stdout.write(`${label}:\n${harmless(content).replace(/\n+$/, '')}\n\n`);
  }

  /** Text as it is, for what comes in pieces and for scripts. */
  raw(text: string): void {
    this.#sinks.stdout.write(harmless(text));
  }

  /** Something to know, beside the result. */
  note(text: string): void {
    this.#sinks.stderr.write(`${harmless(text)}\n`);
  }

  /** Something to worry about. */
  warn(text: string): void {
    this.#sinks.stderr.write(`${this.#colored('warning:', 33)} ${harmless(text)}\n`);
  }

  /** What ended the command. */
  fail(text: string): void {
    this.#sinks.stderr.write(`${this.#colored('error:', 31)} ${harmless(text)}\n`);
  }

  /** A line that the next one takes the place of; only where a person reads it. */
  progress(text: string): void {
    if (!this.watched) return;
    this.#drawn = true;
    this.#sinks.stderr.write(`\r${harmless(text).replaceAll('\n', ' ')}\x1b[K`);
  }

  /** Takes the line of progress away. */
  endProgress(): void {
    if (this.#drawn) this.#sinks.stderr.write('\r\x1b[K');
    this.#drawn = false;
  }

  #colored(text: string, color: number): string {
    return this.#sinks.colors ? `\x1b[1;${color}m${text}\x1b[0m` : text;
  }
}

/** Text of somebody else without what would steer a terminal. */
export function harmless(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, '');
}
