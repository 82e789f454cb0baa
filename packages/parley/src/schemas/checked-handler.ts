import { InvalidParamsError } from '../errors/standard-errors.js';
import type { Message } from '../model/message.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import { BY_VERB } from '../operations/operations.js';
import { mappedHandler } from '../server/mapped-handler.js';
import { openedLater } from '../server/opened-later.js';
import { readableMessage } from '../server/readable-message.js';
import type { RequestHandler } from '../server/request-handler.js';
import { type Checked, checkedMessage, checkedMetadata } from './agent-schemas.js';
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
  const plain = readableMessage(request.message);
  const { value, violations } = await checkedBy(options, (schemas) => {
    const checked = checkedMessage(plain, schemas, { side: 'input', field: 'message' });
    const message = plain === request.message ? checked : asSent(request.message, plain, checked);
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

/** The check of a message with encrypted parts, which go on as they are. So nothing can be left out of them. */
function asSent(sent: Message, plain: Message, { value, violations }: Checked<Message>): Checked<Message> {
  const stripped = value.parts.flatMap((part, at) =>
    part === plain.parts[at]
      ? []
      : [
          {
            field: `message.parts[${at}].metadata`,
            description: 'does not fit, and cannot be left out: it is encrypted',
          },
        ],
  );
  const message =
    value.metadata === plain.metadata ? sent : { ...sent, ...(value.metadata && { metadata: value.metadata }) };
  return { value: message, violations: [...violations, ...stripped] };
}
