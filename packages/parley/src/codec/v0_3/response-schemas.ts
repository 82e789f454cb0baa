import { TASK_STATES } from '../../model/task-state.js';
import type { Components } from '../../openapi/components.js';
import type { Schema } from '../../openapi/document.js';
import type { Dialect } from './dialect.js';
import { writeRole } from './message.js';
import { writeTaskState } from './task.js';

const TEXT: Schema = { type: 'string' };
const FREE: Schema = { type: 'object' };
const TEXTS: Schema = { type: 'array', items: TEXT };
const FLAG: Schema = { type: 'boolean' };

type Members = Readonly<Record<string, Schema>>;

/** The responses of a version before 1.0 in one of its dialects. The names of their components begin with `prefix`. */
export class ResponseSchemas {
  readonly #dialect: Dialect;
  readonly #prefix: string;
  readonly #components: Components;

  constructor(dialect: Dialect, prefix: string, components: Components) {
    this.#dialect = dialect;
    this.#prefix = prefix;
    this.#components = components;
  }

  /** The answer to a message. */
  get answer(): Schema {
    return { oneOf: [this.#inside('task', this.task), this.#inside(this.#dialect.reply, this.message)] };
  }

  /** A list of webhooks. */
  get webhooks(): Schema {
    const items = { type: 'array', items: this.webhook };
    return this.#dialect.kinds ? items : closedObject({ configs: items, nextPageToken: TEXT });
  }

  /** An answer without content. */
  get nothing(): Schema {
    return this.#dialect.kinds ? { type: 'null' } : closedObject({});
  }

  /** A card, which may have the members of later versions too. */
  get card(): Schema {
    const properties = {
      protocolVersion: TEXT,
      name: TEXT,
      description: TEXT,
      url: TEXT,
      preferredTransport: TEXT,
      version: TEXT,
    };
    const required = [...Object.keys(properties), 'capabilities', 'defaultInputModes', 'defaultOutputModes', 'skills'];
    const lists = { defaultInputModes: TEXTS, defaultOutputModes: TEXTS, skills: { type: 'array', items: FREE } };
    return this.#component('AgentCard', {
      type: 'object',
      required,
      properties: { ...properties, capabilities: FREE, ...lists },
    });
  }

  /** A task. */
  get task(): Schema {
    const artifacts = { type: 'array', items: this.#artifact() };
    const history = { type: 'array', items: this.message };
    const members = { id: TEXT, contextId: TEXT, status: this.#status() };
    return this.#kind('Task', 'task', members, { artifacts, history, metadata: FREE });
  }

  /** A message. */
  get message(): Schema {
    const { kinds } = this.#dialect;
    const parts = { type: 'array', items: this.#part() };
    const role = {
      type: 'string',
      enum: [writeRole(this.#dialect, 'ROLE_USER'), writeRole(this.#dialect, 'ROLE_AGENT')],
    };
    const members = { messageId: TEXT, role, ...(kinds ? { parts } : { content: parts }) };
    const optional = { contextId: TEXT, taskId: TEXT, metadata: FREE, extensions: TEXTS };
    return this.#kind('Message', 'message', members, { ...optional, ...(kinds && { referenceTaskIds: TEXTS }) });
  }

  /** One event of a stream. */
  get event(): Schema {
    const ids = { taskId: TEXT, contextId: TEXT };
    const status = { ...ids, status: this.#status(), final: FLAG };
    const chunk = { ...ids, artifact: this.#artifact() };
    return {
      oneOf: [
        this.#inside('task', this.task),
        this.#inside(this.#dialect.reply, this.message),
        this.#inside('statusUpdate', this.#kind('TaskStatusUpdateEvent', 'status-update', status, { metadata: FREE })),
        this.#inside(
          'artifactUpdate',
          this.#kind('TaskArtifactUpdateEvent', 'artifact-update', chunk, {
            append: FLAG,
            lastChunk: FLAG,
            metadata: FREE,
          }),
        ),
      ],
    };
  }

  #status(): Schema {
    const states = TASK_STATES.map((state) => writeTaskState(this.#dialect, state));
    const optional = { [this.#dialect.note]: this.message, timestamp: { type: 'string', format: 'date-time' } };
    return this.#component('TaskStatus', closedObject({ state: { type: 'string', enum: states } }, optional));
  }

  #artifact(): Schema {
    const parts = { type: 'array', items: this.#part() };
    const optional = { name: TEXT, description: TEXT, metadata: FREE, extensions: TEXTS };
    return this.#component('Artifact', closedObject({ artifactId: TEXT, parts }, optional));
  }

  #part(): Schema {
    const { kinds } = this.#dialect;
    const about = { mimeType: TEXT, name: TEXT };
    const [bytes, uri] = kinds ? ['bytes', 'uri'] : ['fileWithBytes', 'fileWithUri'];
    const file = {
      oneOf: [
        closedObject({ [bytes]: { type: 'string', contentEncoding: 'base64' } }, about),
        closedObject({ [uri]: TEXT }, about),
      ],
    };
    const content = { text: TEXT, file, data: kinds ? FREE : closedObject({ data: FREE }) };
    const oneOf = Object.entries(content).map(([name, schema]) =>
      closedObject({ ...(kinds && { kind: { const: name } }), [name]: schema }, { metadata: FREE }),
    );
    return this.#component('Part', { oneOf });
  }

  /** A webhook together with its task. */
  get webhook(): Schema {
    const authentication = closedObject({ schemes: TEXTS }, { credentials: TEXT });
    const pushNotificationConfig = closedObject({ url: TEXT }, { id: TEXT, token: TEXT, authentication });
    const task = this.#dialect.kinds ? { taskId: TEXT } : { name: TEXT };
    return this.#component('TaskPushNotificationConfig', closedObject({ ...task, pushNotificationConfig }));
  }

  /** Bare in the dialect with kinds, else the only member of an object. */
  #inside(name: string, schema: Schema): Schema {
    return this.#dialect.kinds ? schema : closedObject({ [name]: schema });
  }

  #kind(name: string, kind: string, members: Members, optional: Members): Schema {
    return this.#component(
      name,
      closedObject({ ...(this.#dialect.kinds && { kind: { const: kind } }), ...members }, optional),
    );
  }

  #component(name: string, schema: Schema): Schema {
    return { ...this.#components.add(`${this.#prefix}${name}`, schema) };
  }
}

function closedObject(members: Members, optional: Members = {}): Schema {
  return {
    type: 'object',
    required: Object.keys(members),
    properties: { ...members, ...optional },
    additionalProperties: false,
  };
}
