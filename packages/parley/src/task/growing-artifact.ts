import type { Artifact } from '../model/artifact.js';
import type { JsonObject } from '../model/json.js';
import type { Part } from '../model/part.js';

/**
 * An artifact that grows by chunks (Spec §4.2.2). Text of a chunk continues the text before it: both are one part of
 * the artifact. The cost of a chunk does not depend on the size of the artifact. Parts are shared with the chunks and
 * never changed.
 */
export class GrowingArtifact {
  #artifact: Artifact;
  /** The parts, once they have grown, until they are shared. */
  #grown: Part[] | undefined;
  /** The text of the last part, if it is longer than that part. */
  #text: string | undefined;

  constructor(artifact: Artifact) {
    this.#artifact = artifact;
  }

  /** Adds the parts of a chunk, and takes its description. */
  append(chunk: Artifact): void {
    this.#artifact = described(this.#artifact, chunk);
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

  /** False if an extension of the artifact may count its parts: these stay as they came. */
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

/** An artifact with the description of a chunk beside its own. Its parts stay. */
export function described(artifact: Artifact, chunk: Artifact): Artifact {
  if (!describes(chunk)) return artifact;
  const { name, description, extensions, metadata } = chunk;
  return {
    ...artifact,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(extensions !== undefined && { extensions }),
    ...(metadata !== undefined && { metadata: merged(artifact.metadata, metadata) }),
  };
}

/** Merges metadata key by key. Spreading defines members as data, so `__proto__` stays a plain member. */
export function merged(into: JsonObject | undefined, from: JsonObject): JsonObject {
  return into === undefined ? from : { ...into, ...from };
}
