import type { Artifact, Part, StreamResponse, Task, TaskStatusUpdateEvent } from 'parley-a2a';
import { LABELS } from './labels.js';
import type { Output } from './output.js';
import { writeParts } from './part-text.js';
import { shortState, stepIn, writeArtifactHead, writeMessage, writeTask } from './task-text.js';

/** Prints the events of a stream as they arrive. Chunks of one text continue one block. */
export class StreamText {
  readonly #output: Output;
  /** The artifact whose text is being written. */
  #open: string | undefined;
  #artifact: string | undefined;
  /** Names of artifacts by id, because later chunks need not repeat the name. */
  readonly #names = new Map<string, string>();
  #taskId: string | undefined;
  #state: string | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  /** The last printed state. */
  get state(): string | undefined {
    return this.#state;
  }

  write(event: StreamResponse): void {
    if (event.artifactUpdate !== undefined)
      this.#chunk(event.artifactUpdate.artifact, event.artifactUpdate.append === true);
    else if (event.task !== undefined) this.#task(event.task);
    else if (event.message !== undefined) {
      this.#interrupt();
      writeMessage(this.#output, event.message);
    } else {
      this.#interrupt();
      this.#status(event.statusUpdate);
    }
  }

  /** Ends the current block. */
  end(): void {
    if (this.#open !== undefined) this.#output.raw('\n\n');
    this.#open = undefined;
  }

  /** Ends the current block for other lines. The next chunk then starts with the name of its artifact. */
  #interrupt(): void {
    this.end();
    this.#artifact = undefined;
  }

  /** A snapshot after a reconnection contains only the missed text, which continues the block. */
  #task({ artifacts = [], ...task }: Task): void {
    const { id, status } = task;
    const isFirst = this.#taskId !== id;
    if (isFirst) {
      this.#interrupt();
      writeTask(this.#output, task);
      this.#taskId = id;
      this.#state = status.state;
    }
    for (const artifact of artifacts) this.#chunk(artifact, true);
    if (isFirst || (status.state === this.#state && status.message === undefined)) return;
    this.#interrupt();
    this.#status({ status });
  }

  /** Within the same state, a step is printed as its own line. */
  #status({ status: { state, message }, metadata }: Pick<TaskStatusUpdateEvent, 'status' | 'metadata'>): void {
    const step = stepIn(metadata);
    if (step === undefined || state !== this.#state) this.#output.field(LABELS.state, shortState(state));
    this.#output.field(LABELS.step, step);
    this.#state = state;
    if (message !== undefined) writeParts(this.#output, message.parts, LABELS.message);
  }

  #chunk(artifact: Artifact, append: boolean): void {
    const { artifactId: id, parts } = artifact;
    const known = this.#names.get(id);
    const name = artifact.name || known;
    this.#names.set(id, name ?? '');
    if (parts.length === 0 && known !== undefined) return;
    if (this.#artifact !== id || !append) {
      this.end();
      if (known === undefined) writeArtifactHead(this.#output, artifact);
      else this.#output.field(LABELS.artifact, name || id);
      this.#artifact = id;
    }
    let others: Part[] = [];
    const flush = () => {
      if (others.length === 0) return;
      this.end();
      writeParts(this.#output, others, LABELS.text);
      others = [];
    };
    for (const part of parts) {
      if (part.text === undefined) {
        others.push(part);
        continue;
      }
      flush();
      if (this.#open === undefined) this.#output.raw(`${LABELS.text}:\n`);
      this.#open = id;
      this.#output.raw(part.text);
    }
    flush();
  }
}
