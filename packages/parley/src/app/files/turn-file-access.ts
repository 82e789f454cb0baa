import { A2AError } from '../../errors/a2a-error.js';
import { InvalidParamsError } from '../../errors/standard-errors.js';
import type { DeclaredFile } from '../../files/arriving-file.js';
import type { FileScope, StoredFile } from '../../files/file-store.js';
import { safeFilename } from '../../files/filename.js';
import { readMediaType } from '../../files/media-type-rules.js';
import type { Part, UrlPart } from '../../model/part.js';
import { fromBase64 } from '../../runtime/base64-bytes.js';
import type { ReadFile, TurnFiles, WrittenContent, WrittenFile } from '../../server/turn-files.js';
import type { ServedTurn } from '../../server/turn-ports.js';
import type { Logger } from '../../telemetry/logger.js';
import { bytesOfFiles, type FileBytesOptions, wholeBytes } from './file-bytes.js';
import type { FileKeeper } from './file-keeper.js';
import type { NamedFile } from './file-places.js';
import { mappedList } from './mapped-parts.js';

/** The owner of the files of a turn, and their urls. */
interface TurnFileAccessOptions {
  readonly keeper: FileKeeper;
  readonly scope: FileScope;
  readonly signal: AbortSignal;
  readonly patience: ServedTurn['patience'];
  /** The url of a file of the scope. */
  readonly urlOf: (id: string) => string;
  /** The file of this server that a url names. */
  readonly named: (url: string) => NamedFile | undefined;
  readonly logger: Logger;
}

/** The files that an agent reads and writes for its caller. */
export class TurnFileAccess implements TurnFiles {
  readonly #options: TurnFileAccessOptions;

  constructor(options: TurnFileAccessOptions) {
    this.#options = options;
  }

  async open(part: Part): Promise<ReadFile> {
    const { filename, mediaType } = part;
    if (part.raw !== undefined) {
      const bytes = fromBase64(part.raw);
      return readable({ filename, mediaType, size: bytes.length }, once(bytes));
    }
    if (part.url === undefined) throw noFile('must be a part with raw or url');
    const { keeper, scope, named, signal, patience } = this.#options;
    const name = named(part.url);
    if (name === undefined) throw noFile('is no file of this server. Other urls are not fetched');
    const isOwn = name.tenant === scope.tenant;
    const opened = isOwn ? await patience.ask(() => keeper.store.read(scope, name.id), isFileOutage) : undefined;
    if (opened === undefined) throw noFile('names a file that the caller does not have');
    const { file, chunks } = opened;
    return readable(
      { filename: file.filename, mediaType: file.mediaType, size: file.size },
      copyChunks(untilAborted(chunks, signal)),
    );
  }

  inline(parts: readonly Part[], maxBytes: number): Promise<readonly Part[]> {
    const { keeper, patience } = this.#options;
    const store: FileBytesOptions['store'] = {
      head: (...args) => patience.ask(() => keeper.store.head(...args), isFileOutage),
      read: (...args) => patience.ask(() => keeper.store.read(...args), isFileOutage),
    };
    return mappedList(parts, bytesOfFiles({ ...this.#options, store, mostBytes: maxBytes }));
  }

  async write(content: WrittenContent, about: WrittenFile = {}): Promise<UrlPart> {
    const { keeper, scope, signal, urlOf, patience } = this.#options;
    const declared: DeclaredFile = {
      filename: safeFilename(about.filename),
      mediaType: readMediaType(about.mediaType),
    };
    const id = keeper.newId();
    const isStream = typeof content !== 'string' && !(content instanceof Uint8Array);
    let isRead = false;
    const source = async function* () {
      isRead = true;
      yield* untilAborted(chunksOf(content), signal);
    };
    // The store knows by its id a file that it has stored.
    const keep = () => keeper.keep(scope, { id, declared, source: source(), expiryMs: about.expiryMs });
    const file = await patience.ask(keep, (error) => isFileOutage(error) && !(isStream && isRead));
    return partOf(file, urlOf);
  }
}

/** True for anything but an answer: stores of files fail with errors of their systems. */
function isFileOutage(error: unknown): boolean {
  return !(error instanceof A2AError || error instanceof RangeError);
}

/** The part that points to a file. */
export function partOf({ id, filename, mediaType }: StoredFile, urlOf: (id: string) => string): UrlPart {
  return { url: urlOf(id), ...(filename !== undefined && { filename }), mediaType };
}

function noFile(description: string): InvalidParamsError {
  return new InvalidParamsError([{ field: 'part', description }]);
}

function readable(
  about: Pick<ReadFile, 'filename' | 'mediaType' | 'size'>,
  chunks: AsyncIterable<Uint8Array>,
): ReadFile {
  return {
    ...about,
    chunks,
    async bytes(maxBytes) {
      if (about.size > maxBytes) throw new RangeError(`The file has ${about.size} bytes, more than ${maxBytes}`);
      return wholeBytes(chunks, about.size);
    },
  };
}

function chunksOf(content: WrittenContent): AsyncIterable<Uint8Array> {
  if (typeof content === 'string') return once(new TextEncoder().encode(content));
  return content instanceof Uint8Array ? once(content) : content;
}

/** Bytes as a source of chunks. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The chunks, each with memory of its own: agents may keep them. */
async function* copyChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield new Uint8Array(chunk);
}

/** The chunks until the turn has to end. */
async function* untilAborted(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}
