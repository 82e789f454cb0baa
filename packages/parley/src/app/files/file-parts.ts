import type { FileScope } from '../../files/file-store.js';
import type { Message } from '../../model/message.js';
import type { CallOutcome, InterceptedCall } from '../../operations/interceptor.js';
import { isStreaming, type OperationName, type OperationResponse } from '../../operations/operations.js';
import type { ServerInterceptor } from '../../server/intercepted-handler.js';
import type { ServerCallContext } from '../../server/server-call-context.js';
import type { StreamItem } from '../../task/stream-item.js';
import { bytesOfFiles } from './file-bytes.js';
import type { NamedFile } from './file-places.js';
import { type MapPart, mappedEvent, mappedList, mappedTask } from './mapped-parts.js';
import { isLargePart, MessageFiles, type MessageFilesOptions } from './message-files.js';

/** The parts of one agent that become files, and files that become parts. Sizes are in bytes. */
export interface FilePartsOptions extends MessageFilesOptions {
  readonly agent: string;
  /** The most bytes that one answer or event gives to clients without the extension. */
  readonly handedBytes: number;
  /** The extension by which a client takes urls. */
  readonly extension: string;
  readonly named: (url: string) => NamedFile | undefined;
}

type Outcome = CallOutcome<OperationName, StreamItem>;

/**
 * Stores the large raw parts of messages, and hands out files: as urls to clients that have activated the extension,
 * as bytes to all others.
 */
export function filePartsInterceptor(options: FilePartsOptions): ServerInterceptor {
  const files = new MessageFiles(options);
  return (call, next) => {
    const { operation, request, context } = call;
    const scope = { agent: options.agent, tenant: request.tenant ?? '', owner: context.user?.id ?? null };
    const message = 'message' in request ? (request.message as Message) : undefined;
    const isLarge = message?.parts.some((part) => isLargePart(part, options.inlineBytes)) === true;
    const takesUrls = context.extensions.includes(options.extension);
    if (!isLarge && takesUrls) return next(call);
    const taken = async () => {
      if (message === undefined || !isLarge) return { call, end: async () => {} };
      const { message: stored, end } = await files.store(scope, message);
      return { call: { ...call, request: { ...request, message: stored } } as typeof call, end };
    };
    if (isStreaming(operation)) {
      return streamParts(
        taken,
        (stored) => next(stored) as AsyncIterable<StreamItem>,
        (item) => (takesUrls ? item : handedItem(options, scope, item)),
      ) as Outcome;
    }
    const answering = async () => {
      const { call: stored, end } = await taken();
      let answer: OperationResponse;
      try {
        answer = (await next(stored)) as OperationResponse;
      } catch (error) {
        await end(error);
        throw error;
      }
      await end();
      return takesUrls ? answer : handedAnswer(answer, handing(options, scope));
    };
    return answering() as Outcome;
  };
}

/** Puts bytes in the place of urls, up to the bound of one answer or event. */
function handing(options: FilePartsOptions, scope: FileScope): MapPart {
  return bytesOfFiles({ ...options, store: options.keeper.store, scope, mostBytes: options.handedBytes });
}

async function handedAnswer(answer: OperationResponse, map: MapPart): Promise<OperationResponse> {
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
  const handed = await mappedEvent(event, handing(options, scope));
  if (handed === event) return item;
  return {
    event: handed,
    ...(seq !== undefined && { seq }),
    ...(last !== undefined && { last }),
    ...(reset !== undefined && { reset }),
  };
}

interface TakenCall {
  readonly call: InterceptedCall<ServerCallContext>;
  end(fault?: unknown): Promise<void>;
}

async function* streamParts(
  take: () => Promise<TakenCall>,
  open: (call: TakenCall['call']) => AsyncIterable<StreamItem>,
  map: (item: StreamItem) => StreamItem | Promise<StreamItem>,
): AsyncGenerator<StreamItem> {
  const { call, end } = await take();
  let isAnswered = false;
  let fault: unknown;
  try {
    for await (const item of open(call)) {
      if (!isAnswered) await end();
      isAnswered = true;
      yield map(item);
    }
  } catch (error) {
    fault = error;
    throw error;
  } finally {
    if (!isAnswered) await end(fault);
  }
}
