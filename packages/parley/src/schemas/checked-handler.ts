import { InvalidParamsError } from '../errors/standard-errors.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import type { Task } from '../model/task.js';
import type { GetTaskRequest } from '../model/task-requests.js';
import { BY_VERB } from '../operations/operations.js';
import { mapHandler } from '../server/map-handler.js';
import { openLazily } from '../server/open-lazily.js';
import { readableMessage, readableQuestion } from '../server/readable-message.js';
import type { RequestHandler } from '../server/request-handler.js';
import type { ServerCallContext } from '../server/server-call-context.js';
import { answeringParts } from '../tools/open-questions.js';
import { type Checked, checkedMessage, checkedMetadata, isMarkedQuestion } from './agent-schemas.js';
import { checkedBy, type SchemaCheckOptions } from './schema-answers.js';

const MOST_VIOLATIONS = 50;

/** Wraps the handler in a check of incoming messages. */
export function checkedHandler(handler: RequestHandler, options: SchemaCheckOptions): RequestHandler {
  const readTask = (context: ServerCallContext) => (request: GetTaskRequest) => handler[BY_VERB.get](request, context);
  return mapHandler(handler, (operation, method) => {
    if (operation === BY_VERB.send) {
      return async (request, context) =>
        method(await checkMessage(request as SendMessageRequest, options, readTask(context)), context);
    }
    if (operation !== BY_VERB.stream) return method;
    return (request, context) =>
      openLazily(
        async () =>
          method(
            await checkMessage(request as SendMessageRequest, options, readTask(context)),
            context,
          ) as AsyncIterable<unknown>,
      );
  });
}

/** @throws InvalidParamsError naming the fields that do not fit. */
async function checkMessage(
  request: SendMessageRequest,
  options: SchemaCheckOptions,
  readTask: (request: GetTaskRequest) => Promise<Task>,
): Promise<SendMessageRequest> {
  const first = await checkedRequest(request, options, NO_PARTS);
  if (first.violations.length === 0) return first.value;
  const answers = await answersOf(request, readTask);
  const { value, violations } = answers.size === 0 ? first : await checkedRequest(request, options, answers);
  if (violations.length > 0) throw new InvalidParamsError(violations.slice(0, MOST_VIOLATIONS));
  return value;
}

const NO_PARTS: ReadonlySet<Part> = new Set();

/** The parts of a message that answer the question of a part of the toolkit. The schema of the question checks them. */
async function answersOf(
  { message, tenant }: SendMessageRequest,
  readTask: (request: GetTaskRequest) => Promise<Task>,
): Promise<ReadonlySet<Part>> {
  const { taskId } = message;
  if (taskId === undefined) return NO_PARTS;
  // A task that cannot be read has no question for this caller. The call itself then returns the error.
  const task = await readTask({ id: taskId, historyLength: 0, ...(tenant !== undefined && { tenant }) }).catch(
    () => undefined,
  );
  const question = task?.status.state === 'TASK_STATE_INPUT_REQUIRED' ? task.status.message : undefined;
  if (question === undefined || !isMarkedQuestion(question)) return NO_PARTS;
  const { parts } = await readableQuestion(question, { message });
  return answeringParts(readableMessage(message).parts, parts);
}

function checkedRequest(
  request: SendMessageRequest,
  options: SchemaCheckOptions,
  answers: ReadonlySet<Part>,
): Checked<SendMessageRequest> | Promise<Checked<SendMessageRequest>> {
  const plain = readableMessage(request.message);
  return checkedBy(options, (schemas) => {
    const isExempt = (part: Part) => answers.has(part);
    const checked = checkedMessage(plain, schemas, { side: 'input', field: 'message', isExempt });
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
}

/** The result for a message with encrypted parts. Its sent form goes on, so nothing can be stripped from it. */
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
