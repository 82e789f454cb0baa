import { isFault } from '../../bindings/http/wire-error.js';
import { A2AError } from '../../errors/a2a-error.js';
import type { FileScope } from '../../files/file-store.js';
import { safeFilename } from '../../files/filename.js';
import { readMediaType } from '../../files/media-type-rules.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';
import { bytesInBase64, fromBase64 } from '../../runtime/base64-bytes.js';
import { sha256Hex } from '../../runtime/sha256.js';
import type { Logger } from '../../telemetry/logger.js';
import type { FileKeeper } from './file-keeper.js';
import { mappedMessage } from './mapped-parts.js';
import { once, partOf } from './turn-file-access.js';

/** The ports for the large parts of messages. */
export interface MessageFilesOptions {
  readonly keeper: FileKeeper;
  /** Larger raw parts become files. */
  readonly inlineBytes: number;
  /** The url of a file of a scope; `undefined` while the server has no address. */
  readonly urlOf: (scope: FileScope, id: string) => string | undefined;
  readonly logger: Logger;
}

/** A file while calls with its message are under way. */
interface PendingFile {
  readonly scope: FileScope;
  readonly id: string;
  calls: number;
  /** True if one of these calls has stored it. */
  isNew: boolean;
  /** True if a call was not refused. */
  isWanted: boolean;
}

/** A message with files in the place of its large parts. */
interface MessageWithFiles {
  readonly message: Message;
  /** Call it at the end of the call, with its error if it failed before any answer. A refusal deletes the files. */
  end(fault?: unknown): Promise<void>;
}

/** True for a raw part that becomes a file. */
export function isLargePart(part: Part, inlineBytes: number): boolean {
  return part.raw !== undefined && bytesInBase64(part.raw) > inlineBytes;
}

/**
 * The files in the place of large parts of messages. They are stored before the message is accepted, so those of a
 * refused message are deleted again. A message that is sent again names the same files, and keeps them if one of the
 * calls is accepted.
 */
export class MessageFiles {
  readonly #options: MessageFilesOptions;
  readonly #pending = new Map<string, PendingFile>();

  constructor(options: MessageFilesOptions) {
    this.#options = options;
  }

  /**
   * Stores the large parts of a message.
   * @throws A2AError if a file is refused. Then none of them is left.
   */
  async store(scope: FileScope, message: Message): Promise<MessageWithFiles> {
    const files: PendingFile[] = [];
    const end = (fault?: unknown) => this.#end(files, isRefusal(fault));
    try {
      return { message: await this.#stored(scope, message, files), end };
    } catch (error) {
      await this.#end(files, true);
      throw error;
    }
  }

  #stored(scope: FileScope, message: Message, files: PendingFile[]): Promise<Message> {
    const { inlineBytes, urlOf, keeper } = this.#options;
    let at = 0;
    return mappedMessage(message, async (part) => {
      at += 1;
      if (part.raw === undefined || !isLargePart(part, inlineBytes)) return part;
      const place = JSON.stringify([scope.agent, scope.tenant, scope.owner, message.messageId, at, part.raw]);
      const id = (await sha256Hex(place)).slice(0, 32);
      const url = urlOf(scope, id);
      if (url === undefined) return part;
      const pending = this.#begin(scope, id);
      files.push(pending);
      if ((await keeper.store.head(scope, id)) === undefined) pending.isNew = true;
      const declared = { filename: safeFilename(part.filename), mediaType: readMediaType(part.mediaType) };
      const file = await keeper.keep(scope, { declared, source: once(fromBase64(part.raw)), id });
      return { ...partOf(file, () => url), ...(part.metadata && { metadata: part.metadata }) };
    });
  }

  #begin(scope: FileScope, id: string): PendingFile {
    const pending = this.#pending.get(id) ?? { scope, id, calls: 0, isNew: false, isWanted: false };
    pending.calls += 1;
    this.#pending.set(id, pending);
    return pending;
  }

  async #end(files: readonly PendingFile[], isRefused: boolean): Promise<void> {
    const { keeper, logger } = this.#options;
    for (const file of files) {
      file.calls -= 1;
      file.isWanted ||= !isRefused;
      if (file.calls > 0) continue;
      this.#pending.delete(file.id);
      if (file.isWanted || !file.isNew) continue;
      await keeper.store
        .delete(file.scope, file.id)
        .catch((error: unknown) => logger.warn('the file of a refused message was not deleted', { error }));
    }
  }
}

/** True if the message was not accepted. After a failure of the storage it may have been. */
function isRefusal(error: unknown): boolean {
  return error instanceof A2AError && !isFault(error.code);
}
