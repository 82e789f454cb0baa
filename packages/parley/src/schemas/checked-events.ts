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
import type { Logger } from '../telemetry/logger.js';
import { type AgentSchemas, type Checked, checkedArtifact, checkedMessage, checkedMetadata } from './agent-schemas.js';

const FAILURE = 'The agent gave an invalid response.';

/** The agent, with a check of all that it publishes. An answer that does not fit fails the task. The log says why. */
export function checkedExecutor(executor: AgentExecutor, schemas: AgentSchemas, logger: Logger): AgentExecutor {
  const { replies, resumable } = executor;
  const checked = (events: EventQueue, taskId: string) => new CheckedEvents(events, { schemas, logger, taskId });
  return {
    execute: (context, events) => executor.execute(context, checked(events, context.taskId)),
    ...(executor.cancel && {
      cancel: (context, events) => executor.cancel?.(context, checked(events, context.taskId)),
    }),
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
  };
}

interface CheckOptions {
  readonly schemas: AgentSchemas;
  readonly logger: Logger;
  readonly taskId: string;
}

type Status = 'working' | 'inputRequired' | 'authRequired' | 'complete' | 'fail' | 'reject' | 'cancel';

class CheckedEvents implements EventQueue {
  readonly #events: EventQueue;
  readonly #options: CheckOptions;

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
    const { value, violations } = this.#artifact(content, info);
    if (violations.length > 0) return this.#invalid(violations);
    return typeof content === 'string'
      ? this.#events.artifact(content, value.info)
      : this.#events.artifact(value.parts, value.info);
  }

  append(artifactId: string, content: ArtifactContent, info?: Omit<ArtifactInfo, 'artifactId'>): Promise<void> {
    const { value, violations } = this.#artifact(content, info);
    if (violations.length > 0) return this.#invalid(violations);
    return this.#events.append(artifactId, typeof content === 'string' ? content : value.parts, value.info);
  }

  message(content: StatusContent): Promise<void> {
    const { value, violations } = this.#content(content, 'message');
    return violations.length > 0 ? this.#invalid(violations) : this.#events.message(value);
  }

  publish(event: RawEvent): Promise<void> {
    const { value, violations } = this.#raw(event);
    return violations.length > 0 ? this.#invalid(violations) : this.#events.publish(value);
  }

  flush(): Promise<void> {
    return this.#events.flush();
  }

  #status(name: Status, content: StatusContent | undefined, info: StatusInfo | undefined): Promise<void> {
    const { schemas } = this.#options;
    const said: Checked<StatusContent | undefined> =
      content === undefined ? { value: undefined, violations: [] } : this.#content(content, 'status.message');
    const metadata = checkedMetadata(info?.metadata, 'task', { schemas, field: 'task' });
    const violations = [...said.violations, ...metadata.violations];
    if (violations.length > 0) return this.#invalid(violations);
    const about = metadata.value === undefined ? info : { ...info, metadata: metadata.value };
    return this.#events[name](said.value, about);
  }

  #content(content: StatusContent, field: string): Checked<StatusContent> {
    if (typeof content === 'string') return { value: content, violations: [] };
    const message = Array.isArray(content) ? { parts: content as readonly Part[] } : (content as Partial<Message>);
    return checkedMessage(message, this.#options.schemas, { side: 'output', field });
  }

  #artifact(content: ArtifactContent, info: ArtifactInfo | undefined) {
    const parts = typeof content === 'string' ? [] : Array.isArray(content) ? content : [content as Part];
    const { metadata } = info ?? {};
    const given = { parts: parts as readonly Part[], ...(metadata && { metadata }) };
    const { value, violations } = checkedArtifact(given, this.#options.schemas, 'artifact');
    const about: ArtifactInfo | undefined =
      info && value.metadata !== metadata ? { ...info, ...(value.metadata && { metadata: value.metadata }) } : info;
    return { value: { parts: value.parts, info: about }, violations };
  }

  /** The check of a raw event. The engine refuses events without a readable form. */
  #raw(event: RawEvent): Checked<RawEvent> {
    const { schemas } = this.#options;
    if (!isObject(event)) return { value: event, violations: [] };
    if ('message' in event && isObject(event.message)) {
      const { value, violations } = this.#content(event.message as Partial<Message>, 'message');
      return { value: { message: value as Partial<Message> }, violations };
    }
    if ('artifactUpdate' in event && isObject(event.artifactUpdate) && isObject(event.artifactUpdate.artifact)) {
      const { artifactUpdate } = event;
      const { value, violations } = checkedArtifact(artifactUpdate.artifact, schemas, 'artifact');
      return { value: { artifactUpdate: { ...artifactUpdate, artifact: value } }, violations };
    }
    if ('statusUpdate' in event && isObject(event.statusUpdate)) {
      const { value, violations } = checkedMetadata(event.statusUpdate.metadata, 'task', { schemas, field: 'task' });
      return { value: { statusUpdate: withMetadata(event.statusUpdate, value) }, violations };
    }
    if ('task' in event && isObject(event.task)) {
      const { task } = event;
      const metadata = checkedMetadata(task.metadata, 'task', { schemas, field: 'task' });
      const found = (Array.isArray(task.artifacts) ? task.artifacts : []).map((artifact, index) =>
        checkedArtifact(artifact, schemas, `task.artifacts[${index}]`),
      );
      const artifacts = found.length === 0 ? {} : { artifacts: found.map(({ value }) => value) };
      return {
        value: { task: { ...withMetadata(task, metadata.value), ...artifacts } },
        violations: [...metadata.violations, ...found.flatMap(({ violations }) => violations)],
      };
    }
    return { value: event, violations: [] };
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

function withMetadata<Value extends { readonly metadata?: JsonObject }>(
  value: Value,
  metadata: JsonObject | undefined,
): Value {
  return metadata === undefined || metadata === value.metadata ? value : { ...value, metadata };
}
