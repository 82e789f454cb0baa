import type { Artifact } from '../model/artifact.js';
import type { JsonObject } from '../model/json.js';
import type { Part } from '../model/part.js';

/**
 * An artifact that grows by chunks (Spec §4.2.2). The text of a chunk is appended to the last text part of the
 * artifact. The cost of a chunk does not depend on the size of the artifact. Parts are shared with the chunks and never
 * changed.
 */
export class GrowingArtifact {
  #artifact: Artifact;
  /** The parts after a chunk, until they are shared. */
  #grown: Part[] | undefined;
  /** The text of the last part, if chunks have extended it. */
  #text: string | undefined;

  constructor(artifact: Artifact) {
    this.#artifact = artifact;
  }

  /** Appends the parts of a chunk, and merges its description. */
  append(chunk: Artifact): void {
    this.#artifact = mergeDescription(this.#artifact, chunk);
    this.#grown ??= this.#artifact.parts.slice();
    const { parts } = chunk;
    let next = 0;
    const first = parts[0];
    if (first !== undefined && isPlainText(first) && this.#joinsTexts) {
      const last = this.#grown.at(-1);
      if (last !== undefined && isPlainText(last)) {
        this.#text = (this.#text ?? last.text) + first.text;
        next = 1;
      }
    }
    if (next < parts.length) this.#writeText();
    for (; next < parts.length; next += 1) this.#grown.push(parts[next] as Part);
  }

  /** The artifact as plain data. Later chunks do not change it. */
  view(): Artifact {
    if (this.#grown !== undefined) {
      this.#writeText();
      this.#artifact = { ...this.#artifact, parts: this.#grown };
      this.#grown = undefined;
    }
    return this.#artifact;
  }

  /** False if an extension of the artifact may number its parts, which must then not be joined. */
  get #joinsTexts(): boolean {
    const { extensions } = this.#artifact;
    return extensions === undefined || extensions.length === 0;
  }

  #writeText(): void {
    if (this.#text !== undefined && this.#grown !== undefined)
      this.#grown[this.#grown.length - 1] = { text: this.#text };
    this.#text = undefined;
  }
}

/** True for a text without metadata, media type or name. */
export function isPlainText(part: Part): part is Part & { readonly text: string } {
  return (
    part.text !== undefined &&
    part.metadata === undefined &&
    part.mediaType === undefined &&
    part.filename === undefined
  );
}

function describes(chunk: Artifact): boolean {
  return (
    chunk.name !== undefined ||
    chunk.description !== undefined ||
    chunk.extensions !== undefined ||
    chunk.metadata !== undefined
  );
}

/** Returns an artifact with the description of a chunk merged into its own. Its parts are unchanged. */
export function mergeDescription(artifact: Artifact, chunk: Artifact): Artifact {
  if (!describes(chunk)) return artifact;
  const { name, description, extensions, metadata } = chunk;
  return {
    ...artifact,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(extensions !== undefined && { extensions }),
    ...(metadata !== undefined && { metadata: mergeMetadata(artifact.metadata, metadata) }),
  };
}

/** Merges metadata key by key. Spreading defines members as data, so `__proto__` stays a plain member. */
export function mergeMetadata(into: JsonObject | undefined, from: JsonObject): JsonObject {
  return into === undefined ? from : { ...into, ...from };
}
