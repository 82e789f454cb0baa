import type * as Jose from 'jose';
import type { Artifact, Message, Part, StreamResponse, Task } from 'parley-a2a';
import { ENCRYPTION_EXTENSION, isObject } from 'parley-a2a/kit';
import {
  EncryptedPartFault,
  isEncrypted,
  OtherRecipientFault,
  openedPart,
  type PartPlace,
  sealedPart,
} from './encrypted-parts.js';
import { type OwnKey, type RecipientKey, recipientKey } from './encryption-keys.js';
import { UntrustedContentError } from './untrusted-content-error.js';
import type { VerifiedSigner } from './verified-signers.js';

/** Encrypts the parts of one sender. */
export interface PartSealer {
  /** The parts of a message. */
  message(message: Message): Promise<Message>;
  /** Encrypts the parts of an artifact, beginning with part `from`. */
  artifact(artifact: Artifact, place: { readonly taskId: string; readonly from: number }): Promise<readonly Part[]>;
}

/** Encrypts parts for recipients. `by` names the keys of the signer. */
export function partSealer(options: {
  readonly library: typeof Jose;
  readonly recipients: readonly RecipientKey[];
  readonly by: readonly string[];
}): PartSealer {
  return {
    async message(message) {
      const { messageId, parts: given } = message;
      const parts = await inOrder(given, (part, index) =>
        isEncrypted(part) ? part : sealedPart(part, { messageId, index, parts: given.length }, options),
      );
      return { ...message, parts };
    },
    artifact: ({ artifactId, parts }, { taskId, from }) =>
      inOrder(parts, (part, at) =>
        isEncrypted(part) ? part : sealedPart(part, { taskId, artifactId, index: from + at }, options),
      ),
  };
}

/** The metadata that names the key for answers. */
export function replyMetadata(key: OwnKey): Message['metadata'] {
  return { [ENCRYPTION_EXTENSION]: { replyTo: key.shown } };
}

/** Decrypts parts that are encrypted for one of the keys. */
export class PartOpener {
  readonly #library: typeof Jose;
  readonly #keys: readonly OwnKey[];

  constructor(library: typeof Jose, keys: readonly OwnKey[]) {
    this.#library = library;
    this.#keys = keys;
  }

  /** The public keys, to publish. */
  get publicKeys(): readonly object[] {
    return this.#keys.map(({ shown }) => shown);
  }

  /** The newest key. */
  get first(): OwnKey | undefined {
    return this.#keys[0];
  }

  /**
   * Decrypts a received message, and checks its key for answers.
   * @throws UntrustedContentError naming the part or the metadata at fault.
   */
  async check(
    message: Message,
    { signers, required }: { readonly signers: readonly VerifiedSigner[]; readonly required: boolean },
  ): Promise<Message> {
    const open = await this.#strict(
      message,
      signers.map(({ kid }) => kid),
    );
    for (const [at, part] of message.parts.entries()) {
      if (required && open.parts[at] === part)
        throw new UntrustedContentError(`message.parts[${at}]`, 'must be encrypted: this agent takes no plain parts');
    }
    if (message.metadata?.[ENCRYPTION_EXTENSION] === undefined) return open;
    const field = `message.metadata[${JSON.stringify(ENCRYPTION_EXTENSION)}].replyTo`;
    if (signers.length === 0)
      throw new UntrustedContentError(field, 'needs a signature: others could name a key of their own');
    await this.replyKey(message).catch((error: unknown) => {
      throw new UntrustedContentError(field, error instanceof Error ? error.message : 'must be a public key');
    });
    return open;
  }

  /** The key for the answers to a message; undefined if it names none. */
  async replyKey({ metadata }: Pick<Message, 'metadata'>): Promise<RecipientKey | undefined> {
    const own = metadata?.[ENCRYPTION_EXTENSION];
    return own === undefined ? undefined : recipientKey(isObject(own) ? own.replyTo : undefined, this.#library);
  }

  /**
   * Decrypts all parts of a received message.
   * @throws UntrustedContentError naming the part that cannot be decrypted.
   */
  #strict(message: Message, signers: readonly string[]): Promise<Message> {
    return this.#message(message, (part, place) => this.#openPart(part, place, signers));
  }

  /**
   * Decrypts a message. Parts for other keys stay encrypted.
   * @throws UntrustedContentError naming a part that is for one of the keys and cannot be decrypted.
   */
  message(message: Message): Promise<Message> {
    return this.#message(message, (part, place) => this.#readable(part, place));
  }

  /** Decrypts an artifact. Parts for other keys stay encrypted. */
  async artifact(
    artifact: Artifact,
    { taskId, isChunk = false }: { readonly taskId: string; readonly isChunk?: boolean },
  ): Promise<Artifact> {
    if (!artifact.parts.some(isEncrypted)) return artifact;
    const { artifactId } = artifact;
    const parts = await inOrder(artifact.parts, (part, at) =>
      withField(`artifact.parts[${at}]`, () =>
        this.#readable(part, { taskId, artifactId, index: isChunk ? undefined : at }),
      ),
    );
    return { ...artifact, parts };
  }

  /** Decrypts a task. Parts for other keys stay encrypted. */
  async task(task: Task): Promise<Task> {
    const { id: taskId, artifacts, history, status } = task;
    const message = status.message && (await this.message(status.message));
    return {
      ...task,
      status: { ...status, ...(message && { message }) },
      ...(artifacts && { artifacts: await inOrder(artifacts, (one) => this.artifact(one, { taskId })) }),
      ...(history && { history: await inOrder(history, (one) => this.message(one)) }),
    };
  }

  /** Decrypts an event. Parts for other keys stay encrypted. */
  async event(event: StreamResponse): Promise<StreamResponse> {
    if (event.task !== undefined) return { task: await this.task(event.task) };
    if (event.message !== undefined) return { message: await this.message(event.message) };
    if (event.artifactUpdate !== undefined) {
      const { taskId, artifact: given } = event.artifactUpdate;
      const artifact = await this.artifact(given, { taskId, isChunk: true });
      return { artifactUpdate: { ...event.artifactUpdate, artifact } };
    }
    const { status } = event.statusUpdate;
    if (status.message === undefined) return event;
    return {
      statusUpdate: { ...event.statusUpdate, status: { ...status, message: await this.message(status.message) } },
    };
  }

  async #message(message: Message, open: (part: Part, place: PartPlace) => Promise<Part>): Promise<Message> {
    if (!message.parts.some(isEncrypted)) return message;
    const { messageId, parts } = message;
    const plain = await inOrder(parts, (part, index) =>
      withField(`message.parts[${index}]`, () => open(part, { messageId, index, parts: parts.length })),
    );
    return { ...message, parts: plain };
  }

  async #readable(part: Part, place: PartPlace): Promise<Part> {
    return this.#openPart(part, place).catch((error: unknown) => {
      if (error instanceof OtherRecipientFault) return part;
      throw error;
    });
  }

  async #openPart(part: Part, place: PartPlace, signers?: readonly string[]): Promise<Part> {
    if (!isEncrypted(part)) return part;
    return openedPart(part, place, { library: this.#library, keys: this.#keys, ...(signers && { signers }) });
  }
}

/** Adds the name of the part to a fault. */
async function withField<T>(field: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw error instanceof EncryptedPartFault ? new UntrustedContentError(field, error.message) : error;
  }
}

async function inOrder<Item>(
  items: readonly Item[],
  map: (item: Item, index: number) => Item | Promise<Item>,
): Promise<readonly Item[]> {
  const mapped: Item[] = [];
  for (const [index, item] of items.entries()) mapped.push(await map(item, index));
  return mapped;
}
