import type { FileScope } from '../../files/file-store.js';
import { safeFilename } from '../../files/filename.js';
import { readMediaType } from '../../files/media-type-rules.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';
import type { CallOutcome } from '../../operations/interceptor.js';
import { isStreaming, type OperationName, type OperationTypes } from '../../operations/operations.js';
import { bytesInBase64, fromBase64 } from '../../runtime/base64-bytes.js';
import { sha256Hex } from '../../runtime/sha256.js';
import type { ServerInterceptor } from '../../server/intercepted-handler.js';
import type { StreamItem } from '../../task/stream-item.js';
import type { Logger } from '../../telemetry/logger.js';
import { bytesOfFiles } from './file-bytes.js';
import type { FileKeeper } from './file-keeper.js';
import type { NamedFile } from './file-places.js';
import { type MapPart, mappedEvent, mappedList, mappedMessage, mappedTask } from './mapped-parts.js';
import { partOf } from './turn-file-access.js';

/** The parts of one agent that become files, and files that become parts. Sizes are in bytes. */
export interface FilePartsOptions {
  readonly agent: string;
  readonly keeper: FileKeeper;
  /** Larger raw parts become files. */
  readonly inlineBytes: number;
  /** The most bytes that one answer or event gives to clients without the extension. */
  readonly handedBytes: number;
  /** The extension by which a client takes urls. */
  readonly extension: string;
  /** The url of a file of a scope; `undefined` while the server has no address. */
  readonly urlOf: (scope: FileScope, id: string) => string | undefined;
  readonly named: (url: string) => NamedFile | undefined;
  readonly logger: Logger;
}

type Outcome = CallOutcome<OperationName, StreamItem>;
type Answer = OperationTypes[OperationName]['response'];

/**
 * Stores the large raw parts of messages, and hands out files: as urls to clients that have activated the extension,
 * as bytes to all others.
 */
export function filePartsInterceptor(options: FilePartsOptions): ServerInterceptor {
  return (call, next) => {
    const { operation, request, context } = call;
    const scope = { agent: options.agent, tenant: request.tenant ?? '', owner: context.user?.id ?? null };
    const message = 'message' in request ? (request.message as Message) : undefined;
    const isLarge = message?.parts.some((part) => isLargePart(part, options.inlineBytes)) === true;
    const takesUrls = context.extensions.includes(options.extension);
    if (!isLarge && takesUrls) return next(call);
    const stored = async () => {
      if (message === undefined || !isLarge) return call;
      return { ...call, request: { ...request, message: await storedMessage(options, scope, message) } } as typeof call;
    };
    if (isStreaming(operation)) {
      return streamed(
        async () => next(await stored()) as AsyncIterable<StreamItem>,
        (item) => (takesUrls ? item : handedItem(options, scope, item)),
      ) as Outcome;
    }
    const answering = async () => {
      const answer = (await next(await stored())) as Answer;
      return takesUrls
        ? answer
        : handedAnswer(
            answer,
            bytesOfFiles({ ...options, store: options.keeper.store, scope, mostBytes: options.handedBytes }),
          );
    };
    return answering() as Outcome;
  };
}

/** True for a raw part that becomes a file. */
export function isLargePart(part: Part, inlineBytes: number): boolean {
  return 'raw' in part && bytesInBase64(part.raw) > inlineBytes;
}

/** The message with files in the place of its large parts. A message that is sent again names the same files. */
async function storedMessage(options: FilePartsOptions, scope: FileScope, message: Message): Promise<Message> {
  let at = 0;
  return mappedMessage(message, async (part) => {
    at += 1;
    if (!('raw' in part) || !isLargePart(part, options.inlineBytes)) return part;
    const place = JSON.stringify([scope.agent, scope.tenant, scope.owner, message.messageId, at, part.raw]);
    const id = (await sha256Hex(place)).slice(0, 32);
    const url = options.urlOf(scope, id);
    if (url === undefined) return part;
    const declared = { filename: safeFilename(part.filename), mediaType: readMediaType(part.mediaType) };
    const file = await options.keeper.keep(scope, { declared, source: once(fromBase64(part.raw)), id });
    return { ...partOf(file, () => url), ...(part.metadata && { metadata: part.metadata }) };
  });
}

async function handedAnswer(answer: Answer, map: MapPart): Promise<Answer> {
  if (answer === undefined) return undefined;
  if ('tasks' in answer) {
    const tasks = await mappedList(answer.tasks, (task) => mappedTask(task, map));
    return tasks === answer.tasks ? answer : { ...answer, tasks };
  }
  if ('task' in answer || 'message' in answer) return mappedEvent(answer, map);
  return 'status' in answer ? mappedTask(answer, map) : answer;
}

async function handedItem(options: FilePartsOptions, scope: FileScope, item: StreamItem): Promise<StreamItem> {
  const { event, seq, last, reset } = item;
  const handed = await mappedEvent(
    event,
    bytesOfFiles({ ...options, store: options.keeper.store, scope, mostBytes: options.handedBytes }),
  );
  if (handed === event) return item;
  return {
    event: handed,
    ...(seq !== undefined && { seq }),
    ...(last !== undefined && { last }),
    ...(reset !== undefined && { reset }),
  };
}

async function* streamed(
  open: () => Promise<AsyncIterable<StreamItem>>,
  map: (item: StreamItem) => StreamItem | Promise<StreamItem>,
): AsyncGenerator<StreamItem> {
  for await (const item of await open()) yield map(item);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
