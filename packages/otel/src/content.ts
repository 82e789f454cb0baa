import type { Span } from '@opentelemetry/api';

/** Recording of message content in spans. */
export interface ContentOptions {
  /** Returns the text to record, for example without personal names. Undefined records nothing. */
  readonly redact: (text: string) => string | undefined;
  /**
   * Maximum length of the text of one attribute, in characters; default 4,096. A longer text is cut after the
   * redaction.
   */
  readonly maxLength?: number;
}

const MAX_LENGTH = 4_096;
/** Maximum characters of the text of one turn before the redaction. */
const MOST_KEPT = 65_536;

/** Records content, if the application has enabled that. */
export class Content {
  readonly #options: ContentOptions | undefined;

  constructor(options: ContentOptions | undefined) {
    this.#options = options;
  }

  get isRecorded(): boolean {
    return this.#options !== undefined;
  }

  /** Records a text. Nothing is recorded if the redaction fails. */
  record(span: Span, attribute: string, text: string): void {
    if (this.#options === undefined || !span.isRecording()) return;
    const { redact, maxLength = MAX_LENGTH } = this.#options;
    try {
      const kept = redact(text.slice(0, MOST_KEPT));
      if (typeof kept === 'string') span.setAttribute(attribute, kept.slice(0, maxLength));
    } catch {
      // A failed redaction records nothing, rather than a secret.
    }
  }

  /** Records a value as JSON. */
  recordJson(span: Span, attribute: string, value: unknown): void {
    if (this.#options === undefined || !span.isRecording()) return;
    try {
      this.record(span, attribute, JSON.stringify(value) ?? '');
    } catch {
      // A tool may return a value without a JSON form. Its call fails for that reason anyway.
    }
  }
}
