import type { Part, StreamResponse } from 'parley-a2a';
import { LABELS } from './labels.js';
import type { Output } from './output.js';
import { writeParts } from './part-text.js';
import { shortState, writeMessage, writeTask } from './task-text.js';

/** Shows the events of a stream as they arrive. Chunks of one text continue one block. */
export class StreamText {
  readonly #output: Output;
  /** The artifact whose text is being written. */
  #open: string | undefined;
  #artifact: string | undefined;
  /** Names of artifacts by id, because later chunks need not repeat the name. */
  readonly #names = new Map<string, string>();

  constructor(output: Output) {
    this.#output = output;
  }

  write(event: StreamResponse): void {
    if ('artifactUpdate' in event) {
      const { artifact, append } = event.artifactUpdate;
      this.#chunk(artifact.artifactId, artifact.name, artifact.parts, append === true);
      return;
    }
    this.end();
    this.#artifact = undefined;
    if ('task' in event) {
      for (const { artifactId, name = '' } of event.task.artifacts ?? []) {
        if (name !== '') this.#names.set(artifactId, name);
      }
      writeTask(this.#output, event.task);
    } else if ('message' in event) writeMessage(this.#output, event.message);
    else {
      this.#output.field(LABELS.state, shortState(event.statusUpdate.status.state));
      const said = event.statusUpdate.status.message;
      if (said !== undefined) writeParts(this.#output, said.parts, LABELS.message);
    }
  }

  /** Ends the current block. */
  end(): void {
    if (this.#open !== undefined) this.#output.raw('\n\n');
    this.#open = undefined;
  }

  #chunk(id: string, name: string | undefined, parts: readonly Part[], append: boolean): void {
    if (name !== undefined && name !== '') this.#names.set(id, name);
    if (parts.length === 0) return;
    if (this.#artifact !== id || !append) {
      this.end();
      this.#output.field(LABELS.artifact, this.#names.get(id) ?? id);
      this.#artifact = id;
    }
    for (const part of parts) {
      if (!('text' in part)) {
        this.end();
        writeParts(this.#output, [part]);
        continue;
      }
      if (this.#open === undefined) this.#output.raw(`${LABELS.text}:\n`);
      this.#open = id;
      this.#output.raw(part.text);
    }
  }
}
