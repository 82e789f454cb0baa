import { callDirectly, type DirectReply } from '../../../../../packages/parley/src/bindings/direct/direct-binding.js';
import type { DirectCall } from '../../../../../packages/parley/src/bindings/direct/direct-call.js';
import { DirectRequest } from '../../../../../packages/parley/src/bindings/direct/direct-request.js';
import type { RequestLimits } from '../../../../../packages/parley/src/bindings/http/binding-context.js';
import { httpStatus } from '../../../../../packages/parley/src/bindings/http/error-numbers.js';
import type {
  Exchange,
  ExchangeRequest,
  ExchangeResponse,
} from '../../../../../packages/parley/src/bindings/http/exchange.js';
import { parseJson } from '../../../../../packages/parley/src/bindings/http/json-body.js';
import type { WireCodec } from '../../../../../packages/parley/src/codec/wire-codec.js';
import { A2AError } from '../../../../../packages/parley/src/errors/a2a-error.js';
import type { OperationName, UnaryOperationName } from '../../../../../packages/parley/src/operations/operations.js';

/** The name of the binding in cards and records. */
export const LINES = 'LINES';

/** The options of `linesExchange`. */
export interface LinesExchangeOptions {
  /** Takes direct calls of the agent. */
  readonly way: Exchange;
  readonly codec: WireCodec;
  readonly limits: RequestLimits;
}

/** Takes a call in two lines: the operation, and the request as JSON. Answers in lines, too. */
export function linesExchange({ way, codec, limits }: LinesExchangeOptions): Exchange {
  return async (request) => {
    const call = await readCall(request, { codec, limits });
    const { path, query, peer, local, clientCertificate, signal } = request;
    const header = (name: string) => request.header(name);
    const reply = await callDirectly(
      way,
      new DirectRequest({ path, query, header, signal, peer, local, clientCertificate, call }),
    );
    return answerOf(reply, call.operation, codec);
  };
}

/** A request that cannot be read is refused inside of the records of the host. */
async function readCall(
  request: ExchangeRequest,
  { codec, limits }: Omit<LinesExchangeOptions, 'way'>,
): Promise<DirectCall> {
  let operation: OperationName = 'sendMessage';
  try {
    const text = new TextDecoder().decode(await request.body(limits.bodyBytes));
    const [name = '', json = ''] = text.split('\n');
    operation = name as OperationName;
    return { operation, decoder: codec, value: parseJson(json, limits) };
  } catch (error) {
    const refuse = (): never => {
      throw error;
    };
    return { operation, decoder: { version: codec.version, decode: refuse }, value: undefined };
  }
}

function answerOf({ answer, headers }: DirectReply, operation: OperationName, codec: WireCodec): ExchangeResponse {
  if (answer.kind === 'error') {
    return { status: httpStatus(answer.error), headers, body: errorLine(answer.error) };
  }
  if (answer.kind === 'response') {
    const body = `ok ${codec.encode(operation as UnaryOperationName, answer.response as never)}\n`;
    return { status: 200, headers, body };
  }
  const { items } = answer;
  const lines: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => lines,
    async next() {
      try {
        const { value: item, done } = await items.next();
        if (done === true) return { value: undefined, done: true };
        return { value: `event ${item.seq ?? ''} ${codec.encodeEvent(item)}\n`, done: false };
      } catch (error) {
        const told = error instanceof A2AError ? error : new A2AError('INTERNAL_ERROR', 'Internal error');
        return { value: errorLine(told), done: false };
      }
    },
    async return() {
      await items.return?.();
      return { value: undefined, done: true };
    },
  };
  return { status: 200, headers, body: lines };
}

function errorLine({ code, message, details }: A2AError): string {
  return `error ${JSON.stringify({ code, message, details })}\n`;
}
