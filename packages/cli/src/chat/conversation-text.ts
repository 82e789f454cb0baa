import type { Message, Part, StreamResponse, TaskState } from 'parley-a2a';
import { LABELS } from '../output/labels.js';
import { MarkdownPrinter } from '../output/markdown-printer.js';
import type { Output } from '../output/output.js';
import { writeParts } from '../output/part-text.js';

/** States whose status message is progress and not an answer. */
const PROGRESS: ReadonlySet<TaskState> = new Set(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']);

/** Prints a turn for a person as it arrives, without ids. Markdown becomes styles if colours are on. */
export class ConversationText {
  readonly #output: Output;
  readonly #markdown: MarkdownPrinter | undefined;
  /** True if the last text has no line end. */
  #isOpen = false;
  #artifactId: string | undefined;

  constructor(output: Output) {
    this.#output = output;
    this.#markdown = output.markdown === undefined ? undefined : new MarkdownPrinter(output.markdown);
  }

  write(event: StreamResponse): void {
    if (event.message !== undefined) this.#message(event.message);
    else if (event.statusUpdate !== undefined) {
      const { state, message } = event.statusUpdate.status;
      if (message !== undefined && !PROGRESS.has(state)) this.#message(message);
    } else if (event.artifactUpdate !== undefined) {
      const { artifactId, parts } = event.artifactUpdate.artifact;
      this.#artifact(artifactId, parts);
    } else {
      const { artifacts = [], status } = event.task;
      for (const { artifactId, parts } of artifacts) this.#artifact(artifactId, parts);
      if (status.message !== undefined && !PROGRESS.has(status.state)) this.#message(status.message);
    }
  }

  /** Ends the current line of text. */
  end(): void {
    if (!this.#isOpen) return;
    this.#output.raw('\n', (line) => `${this.#markdown?.end() ?? ''}${line}`);
    this.#isOpen = false;
  }

  #message({ parts }: Message): void {
    this.end();
    for (const part of parts) {
      this.#parts([part]);
      this.end();
    }
  }

  #artifact(artifactId: string, parts: readonly Part[]): void {
    if (this.#artifactId !== artifactId) this.end();
    this.#artifactId = artifactId;
    this.#parts(parts);
  }

  #parts(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.text === undefined) {
        this.end();
        writeParts(this.#output, [part], LABELS.text);
        continue;
      }
      this.#output.raw(part.text, (shown) => this.#markdown?.push(shown) ?? shown);
      this.#isOpen ||= part.text !== '';
    }
  }
}
