import type { FieldViolation } from '../errors/a2a-error.js';
import { isObject, type JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import { ignoreRejection } from '../runtime/settled.js';
import type { AgentExecutor } from '../server/agent-executor.js';
import type {
  ArtifactContent,
  ArtifactInfo,
  EventQueue,
  RawEvent,
  StatusContent,
  StatusInfo,
} from '../server/event-queue.js';
import { isControlPart } from '../server/own-part.js';
import type { RequestContext } from '../server/request-context.js';
import type { Logger } from '../telemetry/logger.js';
import { answeringParts } from '../tools/open-questions.js';
import {
  type AnsweringSchemas,
  type Checked,
  checkedArtifact,
  checkedMessage,
  checkedMetadata,
  isMarkedQuestion,
  markedQuestion,
} from './agent-schemas.js';
import { checkedBy, type SchemaCheckOptions } from './schema-answers.js';

const FAILURE = 'The agent gave an invalid response.';
const STALE = 'The question of this answer no longer waits. Start a new task.';

/**
 * True if the message of a turn still fits the schemas. Another message may have closed the question that it answered,
 * after the request was checked. Its parts are then checked like any other input.
 */
async function isFitting({ message, history }: RequestContext, options: SchemaCheckOptions): Promise<boolean> {
  if (!message.parts.some((part) => part.data !== undefined) || !history.some(isMarkedQuestion)) return true;
  const question = history.at(-1);
  const answers =
    question !== undefined && isMarkedQuestion(question) ? answeringParts(message.parts, question.parts) : undefined;
  const isExempt = (part: Part) => answers?.has(part) === true;
  const { violations } = await checkedBy(options, (schemas) =>
    checkedMessage(message, schemas, { side: 'input', field: 'message', isExempt }),
  );
  return violations.length === 0;
}

/**
 * Wraps the agent in a check of all that it publishes. An answer that does not fit fails the task, and the reason is
 * logged.
 */
export function checkedExecutor(executor: AgentExecutor, options: SchemaCheckOptions, logger: Logger): AgentExecutor {
  const { replies, resumable } = executor;
  const runChecked = async (
    events: EventQueue,
    taskId: string,
    run: (events: EventQueue) => Promise<void> | void | undefined,
  ): Promise<void> => {
    const own = new CheckedEvents(events, { ...options, logger, taskId });
    try {
      await run(own);
    } finally {
      await own.settled();
    }
  };
  return {
    execute: (context, events) =>
      runChecked(events, context.taskId, async (own) => {
        if (await isFitting(context, options)) return executor.execute(context, own);
        const question = context.history.at(-1);
        return question !== undefined && isMarkedQuestion(question)
          ? events.inputRequired(askedAgain(question))
          : events.reject(STALE);
      }),
    ...(executor.cancel && {
      cancel: (context, events) => runChecked(events, context.taskId, (own) => executor.cancel?.(context, own)),
    }),
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
  };
}

function askedAgain({ parts, extensions, metadata }: Message): Partial<Message> {
  return { parts, ...(extensions && { extensions }), ...(metadata && { metadata }) };
}

interface CheckOptions extends SchemaCheckOptions {
  readonly logger: Logger;
  readonly taskId: string;
}

type Status = 'working' | 'inputRequired' | 'authRequired' | 'complete' | 'fail' | 'reject' | 'cancel';

class CheckedEvents implements EventQueue {
  readonly #events: EventQueue;
  readonly #options: CheckOptions;
  /** The last event that waits for an async schema. Later events wait for it, to keep the order. */
  #last: Promise<unknown> | undefined;

  constructor(events: EventQueue, options: CheckOptions) {
    this.#events = events;
    this.#options = options;
  }

  working(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('working', content, info);
  }

  inputRequired(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('inputRequired', content, info);
  }

  authRequired(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('authRequired', content, info);
  }

  complete(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('complete', content, info);
  }

  fail(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('fail', content, info);
  }

  reject(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('reject', content, info);
  }

  cancel(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('cancel', content, info);
  }

  artifact(content: ArtifactContent, info?: ArtifactInfo): Promise<string> {
    return this.#check(
      (schemas) => artifactFit(content, info, schemas),
      ({ parts, info: about }) => this.#events.artifact(typeof content === 'string' ? content : parts, about),
    );
  }

  append(artifactId: string, content: ArtifactContent, info?: Omit<ArtifactInfo, 'artifactId'>): Promise<void> {
    return this.#check(
      (schemas) => artifactFit(content, info, schemas),
      ({ parts, info: about }) => this.#events.append(artifactId, typeof content === 'string' ? content : parts, about),
    );
  }

  message(content: StatusContent): Promise<void> {
    return this.#check(
      (schemas) => contentFit(content, 'message', schemas),
      (value) => this.#events.message(value),
    );
  }

  publish(event: RawEvent): Promise<void> {
    return this.#check(
      (schemas) => rawFit(event, schemas),
      (value) => this.#events.publish(value),
    );
  }

  async flush(): Promise<void> {
    await this.settled();
    await this.#events.flush();
  }

  /** Resolves when no event waits for a schema. */
  async settled(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
  }

  #status(name: Status, content: StatusContent | undefined, info: StatusInfo | undefined): Promise<void> {
    return this.#check(
      (schemas) => {
        const marked = name === 'inputRequired' ? questionContent(content) : unmarkedContent(content);
        const said: Checked<StatusContent | undefined> =
          marked === undefined ? { value: undefined, violations: [] } : contentFit(marked, 'status.message', schemas);
        const metadata = checkedMetadata(info?.metadata, 'task', { schemas, field: 'task' });
        const about = metadata.value === undefined ? info : { ...info, metadata: metadata.value };
        return { value: { said: said.value, about }, violations: [...said.violations, ...metadata.violations] };
      },
      ({ said, about }) => this.#events[name](said, about),
    );
  }

  /** Checks an event, and publishes it after the events before it. */
  #check<Value, Result>(
    check: (schemas: AnsweringSchemas) => Checked<Value>,
    publish: (value: Value) => Promise<Result>,
  ): Promise<Result> {
    const decide = ({ value, violations }: Checked<Value>) =>
      violations.length > 0 ? this.#invalid(violations) : publish(value);
    const found = this.#runCheck(check);
    const before = this.#last;
    if (!(found instanceof Promise) && before === undefined) return decide(found);
    const result = Promise.all([ignoreRejection(Promise.resolve(found)), before]).then(([checked]) => decide(checked));
    const last = result.then(
      () => {},
      () => {},
    );
    this.#last = last;
    void last.then(() => {
      if (this.#last === last) this.#last = undefined;
    });
    return ignoreRejection(result);
  }

  /** A schema that throws or times out fails the task as well. */
  #runCheck<Value>(check: (schemas: AnsweringSchemas) => Checked<Value>): Checked<Value> | Promise<Checked<Value>> {
    const failed = (error: unknown): never => {
      const { logger, taskId } = this.#options;
      logger.error('a schema could not check an answer of the agent', { taskId, error });
      ignoreRejection(this.#events.fail(FAILURE));
      throw error;
    };
    try {
      const found = checkedBy(this.#options, check);
      return found instanceof Promise ? found.catch(failed) : found;
    } catch (error) {
      return failed(error);
    }
  }

  #invalid(violations: readonly FieldViolation[]): Promise<never> {
    const { logger, taskId } = this.#options;
    logger.error('the agent gave an answer that does not fit its schemas', { taskId, violations });
    const failed = this.#events.fail(FAILURE).then(() => {
      const [first] = violations;
      throw new TypeError(`${first?.field ?? 'the answer'}: ${first?.description ?? 'does not fit its schema'}`);
    });
    return ignoreRejection(failed);
  }
}

function partsOf(content: StatusContent): readonly Part[] {
  if (typeof content === 'string') return [];
  const parts: unknown = Array.isArray(content) ? content : (content as Partial<Message>).parts;
  return Array.isArray(parts) ? parts : [];
}

/** A question with its mark, if a part of the toolkit asks. */
function questionContent(content: StatusContent | undefined): StatusContent | undefined {
  if (content === undefined || !partsOf(content).some((part) => isObject(part) && isControlPart(part)))
    return unmarkedContent(content);
  return markedQuestion(Array.isArray(content) ? { parts: content } : (content as Partial<Message>), true);
}

/** A message of the agent without a mark that it copied, such as from another agent. */
function unmarkedContent(content: StatusContent | undefined): StatusContent | undefined {
  if (content === undefined || typeof content === 'string' || Array.isArray(content)) return content;
  return isObject(content) ? markedQuestion(content as Partial<Message>, false) : content;
}

function contentFit(content: StatusContent, field: string, schemas: AnsweringSchemas): Checked<StatusContent> {
  if (typeof content === 'string') return { value: content, violations: [] };
  const message = Array.isArray(content) ? { parts: content as readonly Part[] } : (content as Partial<Message>);
  return checkedMessage(message, schemas, { side: 'output', field, isExempt: isControlPart });
}

function artifactFit(content: ArtifactContent, info: ArtifactInfo | undefined, schemas: AnsweringSchemas) {
  const parts = typeof content === 'string' ? [] : Array.isArray(content) ? content : [content as Part];
  const { metadata } = info ?? {};
  const given = { parts: parts as readonly Part[], ...(metadata && { metadata }) };
  const { value, violations } = checkedArtifact(given, schemas, 'artifact');
  const about: ArtifactInfo | undefined =
    info && value.metadata !== metadata ? { ...info, ...(value.metadata && { metadata: value.metadata }) } : info;
  return { value: { parts: value.parts, info: about }, violations };
}

/** Checks a raw event. The engine refuses events that cannot be read. */
function rawFit(event: RawEvent, schemas: AnsweringSchemas): Checked<RawEvent> {
  if (!isObject(event)) return { value: event, violations: [] };
  if ('message' in event && isObject(event.message)) {
    const { value, violations } = contentFit(event.message as Partial<Message>, 'message', schemas);
    return { value: { message: value as Partial<Message> }, violations };
  }
  if ('artifactUpdate' in event && isObject(event.artifactUpdate) && isObject(event.artifactUpdate.artifact)) {
    const { artifactUpdate } = event;
    const { value, violations } = checkedArtifact(artifactUpdate.artifact, schemas, 'artifact');
    return { value: { artifactUpdate: { ...artifactUpdate, artifact: value } }, violations };
  }
  if ('statusUpdate' in event && isObject(event.statusUpdate)) {
    const { value, violations } = checkedMetadata(event.statusUpdate.metadata, 'task', { schemas, field: 'task' });
    return { value: { statusUpdate: unmarkedStatus(withMetadata(event.statusUpdate, value)) }, violations };
  }
  if ('task' in event && isObject(event.task)) {
    const { task } = event;
    const metadata = checkedMetadata(task.metadata, 'task', { schemas, field: 'task' });
    const found = (Array.isArray(task.artifacts) ? task.artifacts : []).map((artifact, index) =>
      checkedArtifact(artifact, schemas, `task.artifacts[${index}]`),
    );
    const artifacts = found.length === 0 ? {} : { artifacts: found.map(({ value }) => value) };
    return {
      value: { task: { ...unmarkedStatus(withMetadata(task, metadata.value)), ...artifacts } },
      violations: [...metadata.violations, ...found.flatMap(({ violations }) => violations)],
    };
  }
  return { value: event, violations: [] };
}

function unmarkedStatus<Value extends { readonly status?: unknown }>(value: Value): Value {
  const { status } = value;
  if (!isObject(status) || !isObject(status.message)) return value;
  return { ...value, status: { ...status, message: markedQuestion(status.message as Partial<Message>, false) } };
}

function withMetadata<Value extends { readonly metadata?: JsonObject }>(
  value: Value,
  metadata: JsonObject | undefined,
): Value {
  return metadata === undefined || metadata === value.metadata ? value : { ...value, metadata };
}
