import { arrivingFile, type DeclaredFile } from '../../files/arriving-file.js';
import { newDigester } from '../../files/digester.js';
import type { FileScope, FileStore, StoredFile } from '../../files/file-store.js';
import type { MediaTypeRules } from '../../files/media-type-rules.js';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';

/** The limits and rules of the files of a server. Sizes are in bytes, times in ms. */
export interface FileRules {
  /** Of one file. */
  readonly maxBytes: number;
  /** Of all files of one user of one agent in one tenant. */
  readonly ownerBytes: number;
  /** The time until a file is deleted. */
  readonly expiryMs: number;
  /** The time until an upload that is not whole is deleted. */
  readonly unfinishedMs: number;
  readonly mediaTypes: MediaTypeRules;
}

/** A file that comes from a caller or from an agent. */
export interface GivenFile {
  readonly declared: DeclaredFile;
  readonly source: AsyncIterable<Uint8Array>;
  /** Default: a random one. */
  readonly id?: string;
  /** In ms. Default: that of the rules. */
  readonly expiryMs?: number | undefined;
}

/** The ports of files. */
interface FileKeeperOptions {
  readonly store: FileStore;
  readonly rules: FileRules;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** The files of a host: every way into the store passes the same rules. */
export class FileKeeper {
  readonly store: FileStore;
  readonly rules: FileRules;
  readonly #clock: Clock;
  readonly #ids: IdSource;

  constructor({ store, rules, clock, ids }: FileKeeperOptions) {
    this.store = store;
    this.rules = rules;
    this.#clock = clock;
    this.#ids = ids;
  }

  /** A new id of a file. */
  newId(): string {
    return this.#ids.random().replaceAll('-', '');
  }

  /**
   * Stores a file for an owner.
   * @throws A2AError if the bytes differ from the declaration, or break a rule or a limit.
   */
  async keep(scope: FileScope, { declared, source, id, expiryMs }: GivenFile): Promise<StoredFile> {
    const { rules } = this;
    const createdAt = this.#clock.now();
    const file = arrivingFile({
      id: id ?? this.newId(),
      createdAt,
      expiresAt: createdAt + Math.min(expiryMs ?? rules.expiryMs, rules.expiryMs),
      declared,
      source,
      rules: rules.mediaTypes,
      digester: await newDigester(),
    });
    return this.store.put(scope, file, rules);
  }
}
