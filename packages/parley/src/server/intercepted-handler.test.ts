import { expect, it } from 'vitest';
import { OPERATIONS, type OperationName } from '../operations/operations.js';
import type { StreamItem } from '../task/stream-item.js';
import { interceptedHandler, type ServerInterceptor } from './intercepted-handler.js';
import type { RequestHandler } from './request-handler.js';

const context = { version: '1.0', extensions: [], signal: new AbortController().signal };
const event = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] } } as const;
const isStream = (operation: OperationName) => OPERATIONS[operation].streaming;

/** Answers each operation with its name, or a stream of one event. */
const handler = Object.fromEntries(
  (Object.keys(OPERATIONS) as OperationName[]).map((operation) => [
    operation,
    isStream(operation)
      ? async function* () {
          yield { event, seq: 1 };
        }
      : async (request: object) => ({ operation, request }),
  ]),
) as unknown as RequestHandler;

it.each(Object.keys(OPERATIONS) as OperationName[])(
  '%s goes through all interceptors, and may be changed',
  async (operation) => {
    const seen: string[] = [];
    const recordCalls =
      (name: string): ServerInterceptor =>
      (call, next) => {
        seen.push(`${name} ${call.operation} ${call.context.version}`);
        return next({ ...call, request: { ...call.request, tenant: name } as never });
      };
    const around = interceptedHandler(handler, [recordCalls('outer'), recordCalls('inner')]);
    const outcome = around[operation]({} as never, context) as unknown;
    if (isStream(operation)) {
      const items: StreamItem[] = [];
      for await (const item of outcome as AsyncIterable<StreamItem>) items.push(item);
      expect(items).toEqual([{ event, seq: 1 }]);
    } else {
      expect(await outcome).toEqual({ operation, request: { tenant: 'inner' } });
    }
    expect(seen).toEqual([`outer ${operation} 1.0`, `inner ${operation} 1.0`]);
  },
);
