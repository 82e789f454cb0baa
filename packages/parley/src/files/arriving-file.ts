import { A2AError } from '../errors/a2a-error.js';
import type { Digester } from './digester.js';
import type { FileFacts, NewFile } from './file-store.js';
import { decideMediaType, type MediaTypeRules, RefusedTypeError, UNKNOWN_TYPE } from './media-type-rules.js';
import { SNIFFED_BYTES } from './sniffed-type.js';

/** The sender's description of a file, which is checked against the bytes. */
export interface DeclaredFile {
  readonly filename?: string | undefined;
  readonly mediaType?: string | undefined;
  /** In bytes. */
  readonly size?: number | undefined;
  /** The SHA-256 of the bytes, in base64. */
  readonly digest?: string | undefined;
}

/** A file that is being received, and the rules for it. */
interface ArrivingFileOptions extends Pick<NewFile, 'id' | 'createdAt' | 'expiresAt'> {
  readonly declared: DeclaredFile;
  readonly source: AsyncIterable<Uint8Array>;
  readonly rules: MediaTypeRules;
  readonly digester: Digester;
}

/**
 * Makes a file for a store. Its chunks throw as soon as the bytes contradict the declaration: too many of them, or of a
 * refused type. The end throws for too few bytes and for a wrong digest.
 */
export function arrivingFile(options: ArrivingFileOptions): NewFile {
  const { id, createdAt, expiresAt, declared, digester } = options;
  const arrival = new Arrival(options);
  return {
    id,
    createdAt,
    expiresAt,
    size: declared.size,
    chunks: arrival.chunks(),
    finish: () => arrival.finish(digester.digest()),
  };
}

class Arrival {
  readonly #options: ArrivingFileOptions;
  #size = 0;
  #mediaType = UNKNOWN_TYPE;

  constructor(options: ArrivingFileOptions) {
    this.#options = options;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    const { source, digester, declared } = this.#options;
    let head: Uint8Array[] | undefined = [];
    for await (const chunk of source) {
      this.#size += chunk.length;
      if (declared.size !== undefined && this.#size > declared.size) throw this.#wrongSize('more');
      digester.update(chunk);
      if (head === undefined) {
        yield chunk;
        continue;
      }
      if (this.#size < SNIFFED_BYTES) {
        // Copied, because the source may reuse the memory of the chunk.
        head.push(new Uint8Array(chunk));
        continue;
      }
      head.push(chunk);
      this.#decide(head);
      yield* head;
      head = undefined;
    }
    if (head === undefined) return;
    this.#decide(head);
    yield* head;
  }

  finish(digest: string): FileFacts {
    const { declared } = this.#options;
    const { filename } = declared;
    if (declared.size !== undefined && this.#size < declared.size) throw this.#wrongSize('fewer');
    if (declared.digest !== undefined && declared.digest !== digest) {
      throw new A2AError('INVALID_REQUEST', 'The SHA-256 of the bytes is not the declared one');
    }
    return { ...(filename !== undefined && { filename }), mediaType: this.#mediaType, digest };
  }

  /** Decides about the type before the first byte is stored. */
  #decide(head: readonly Uint8Array[]): void {
    const { declared, rules } = this.#options;
    const decision = decideMediaType(declared.mediaType, firstBytes(head), rules);
    if (decision.kind === 'refused') throw new RefusedTypeError(decision.reason);
    this.#mediaType = decision.mediaType;
  }

  #wrongSize(how: 'more' | 'fewer'): A2AError {
    const { size } = this.#options.declared;
    return new A2AError('INVALID_REQUEST', `The body has ${how} than the declared ${size} bytes`);
  }
}

function firstBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && (chunks.length === 1 || first.length >= SNIFFED_BYTES)) return first;
  const head = new Uint8Array(SNIFFED_BYTES);
  let filled = 0;
  for (const chunk of chunks) {
    const taken = chunk.subarray(0, SNIFFED_BYTES - filled);
    head.set(taken, filled);
    filled += taken.length;
  }
  return head.subarray(0, filled);
}
