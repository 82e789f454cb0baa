import type { Artifact } from '../model/artifact.js';
import type { TaskArtifactUpdateEvent } from '../model/stream-response.js';
import { artifactBytes } from './event-bytes.js';
import { GrowingArtifact } from './growing-artifact.js';
import type { ItemSource, StreamItem } from './stream-item.js';

/**
 * The update that ends an artifact of several chunks.
 * - `chunk`: the last chunk, marked with `lastChunk`
 * - `whole`: the whole artifact instead of the last chunk, for clients that show only the last update
 * - `auto`: `whole` for clients that are known to need it, `chunk` for all others
 */
export type ArtifactEnd = (typeof ARTIFACT_ENDS)[number];

/** All forms. */
export const ARTIFACT_ENDS = ['auto', 'chunk', 'whole'] as const;

/** Maximum size of an artifact that is repeated as a whole. Approximate bytes as JSON. */
export const WHOLE_ARTIFACT_BYTES = 262_144;

/** A stream in which the last update of each artifact is the whole artifact. The resulting task is the same. */
export function withWholeEnds(items: AsyncIterable<StreamItem>): AsyncIterable<StreamItem> {
  return { [Symbol.asyncIterator]: () => new WholeEnds(items[Symbol.asyncIterator]() as ItemSource) };
}

class WholeEnds implements ItemSource {
  readonly #source: ItemSource;
  readonly #artifacts = new KeptArtifacts();

  constructor(source: ItemSource) {
    this.#source = source;
  }

  async next(): Promise<IteratorResult<StreamItem, undefined>> {
    const result = await this.#source.next();
    return result.done === true ? result : { done: false, value: this.#shown(result.value) };
  }

  ready(): StreamItem | undefined {
    const item = this.#source.ready?.();
    return item && this.#shown(item);
  }

  async return(): Promise<IteratorResult<StreamItem, undefined>> {
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  #shown(item: StreamItem): StreamItem {
    const { event } = item;
    if (event.task !== undefined) this.#artifacts.begin(event.task.artifacts);
    if (event.artifactUpdate === undefined) return item;
    const whole = this.#artifacts.take(event.artifactUpdate);
    if (whole === undefined) return item;
    const { seq, last, reset } = item;
    return {
      event: { artifactUpdate: { ...event.artifactUpdate, artifact: whole, append: false } },
      ...(seq !== undefined && { seq }),
      ...(last !== undefined && { last }),
      ...(reset !== undefined && { reset }),
    };
  }
}

/** The artifacts of a stream that may still grow, up to `WHOLE_ARTIFACT_BYTES` together. */
class KeptArtifacts {
  readonly #kept = new Map<string, { readonly growing: GrowingArtifact; bytes: number }>();
  #bytes = 0;

  begin(artifacts: readonly Artifact[] = []): void {
    this.#kept.clear();
    this.#bytes = 0;
    for (const artifact of artifacts) this.#add(artifact);
  }

  /** Takes an update. Returns the whole artifact if the update is the last chunk of a kept one. */
  take({ artifact, append, lastChunk }: TaskArtifactUpdateEvent): Artifact | undefined {
    const id = artifact.artifactId;
    if (append !== true) {
      this.#drop(id);
      if (lastChunk !== true) this.#add(artifact);
      return undefined;
    }
    const kept = this.#kept.get(id);
    if (kept === undefined) return undefined;
    kept.growing.append(artifact);
    this.#count(id, kept, artifactBytes(artifact));
    if (lastChunk !== true || !this.#kept.has(id)) return undefined;
    this.#drop(id);
    return kept.growing.view();
  }

  #add(artifact: Artifact): void {
    const kept = { growing: new GrowingArtifact(artifact), bytes: 0 };
    this.#kept.set(artifact.artifactId, kept);
    this.#count(artifact.artifactId, kept, artifactBytes(artifact));
  }

  #count(id: string, kept: { bytes: number }, bytes: number): void {
    kept.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > WHOLE_ARTIFACT_BYTES) this.#drop(id);
  }

  #drop(id: string): void {
    this.#bytes -= this.#kept.get(id)?.bytes ?? 0;
    this.#kept.delete(id);
  }
}
