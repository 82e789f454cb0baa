import { InvalidParamsError } from '../errors/standard-errors.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import { BY_VERB } from '../operations/operations.js';
import { mappedHandler } from '../server/mapped-handler.js';
import { openedLater } from '../server/opened-later.js';
import type { RequestHandler } from '../server/request-handler.js';
import { checkedMessage, checkedMetadata } from './agent-schemas.js';
import { checkedBy, type SchemaCheckOptions } from './schema-answers.js';

const MOST_VIOLATIONS = 50;

/** The handler, with a check of the messages to it. */
export function checkedHandler(handler: RequestHandler, options: SchemaCheckOptions): RequestHandler {
  return mappedHandler(handler, (operation, method) => {
    if (operation === BY_VERB.send) {
      return async (request, context) => method(await fitting(request as SendMessageRequest, options), context);
    }
    if (operation !== BY_VERB.stream) return method;
    return (request, context) =>
      openedLater(
        async () => method(await fitting(request as SendMessageRequest, options), context) as AsyncIterable<unknown>,
      );
  });
}

/** @throws InvalidParamsError naming the fields that do not fit. */
async function fitting(request: SendMessageRequest, options: SchemaCheckOptions): Promise<SendMessageRequest> {
  const { value, violations } = await checkedBy(options, (schemas) => {
    const message = checkedMessage(request.message, schemas, { side: 'input', field: 'message' });
    const metadata = checkedMetadata(request.metadata, 'request', { schemas, field: '' });
    const isSame = message.value === request.message && metadata.value === request.metadata;
    const { metadata: _, ...others } = request;
    return {
      value: isSame
        ? request
        : { ...others, message: message.value, ...(metadata.value && { metadata: metadata.value }) },
      violations: [...message.violations, ...metadata.violations],
    };
  });
  if (violations.length > 0) throw new InvalidParamsError(violations.slice(0, MOST_VIOLATIONS));
  return value;
}
