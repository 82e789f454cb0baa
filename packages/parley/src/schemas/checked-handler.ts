import { InvalidParamsError } from '../errors/standard-errors.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import { BY_VERB } from '../operations/operations.js';
import { mappedHandler } from '../server/mapped-handler.js';
import type { RequestHandler } from '../server/request-handler.js';
import { type AgentSchemas, checkedMessage } from './agent-schemas.js';

const MOST_VIOLATIONS = 50;

/** The handler, with a check of the messages to it. */
export function checkedHandler(handler: RequestHandler, schemas: AgentSchemas): RequestHandler {
  return mappedHandler(handler, (operation, method) => {
    if (operation === BY_VERB.send) {
      return async (request, context) => method(fitting(request as SendMessageRequest, schemas), context);
    }
    if (operation !== BY_VERB.stream) return method;
    return (request, context) =>
      later(() => method(fitting(request as SendMessageRequest, schemas), context) as AsyncIterable<unknown>);
  });
}

/** @throws InvalidParamsError naming the fields that do not fit. */
function fitting(request: SendMessageRequest, schemas: AgentSchemas): SendMessageRequest {
  const { value, violations } = checkedMessage(request.message, schemas, { side: 'input', field: 'message' });
  if (violations.length > 0) throw new InvalidParamsError(violations.slice(0, MOST_VIOLATIONS));
  return value === request.message ? request : { ...request, message: value };
}

/** A stream that begins with its first read, so that an error is one of the stream. */
function later(open: () => AsyncIterable<unknown>): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]() {
      let items: AsyncIterator<unknown> | undefined;
      return {
        next: async () => {
          items ??= open()[Symbol.asyncIterator]();
          return items.next();
        },
        return: async () => (await items?.return?.()) ?? { value: undefined, done: true },
      };
    },
  };
}
