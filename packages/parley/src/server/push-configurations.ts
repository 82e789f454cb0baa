import { A2AError } from '../errors/a2a-error.js';
import { TaskNotFoundError } from '../errors/spec-errors.js';
import { InvalidParamsError } from '../errors/standard-errors.js';
import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '../model/push-notification-config.js';
import type { IdSource } from '../runtime/id-source.js';
import type { StoredPushConfig } from '../store/push-storage.js';
import type { Scope } from '../store/task-key.js';
import type { TaskStorage } from '../store/task-storage.js';
import { DEFAULT_PAGE_SIZE } from '../task/task-list.js';
import type { PushRegistration } from './push-registration.js';

/** Ports of the push configurations of an agent. */
interface PushConfigurationsOptions {
  readonly storage: TaskStorage;
  readonly ids: IdSource;
  readonly registration: PushRegistration;
}

/** A request about push configurations in the scope of its caller. */
interface ScopedRequest<Request> {
  readonly scope: Scope;
  readonly request: Request;
}

/** The operations on push configurations (Spec §3.1.7 to §3.1.10). */
export class PushConfigurations {
  readonly #options: PushConfigurationsOptions;

  constructor(options: PushConfigurationsOptions) {
    this.#options = options;
  }

  /** Maximum number of configurations of one task. */
  get limit(): number {
    return this.#options.registration.maxConfigs;
  }

  /** Stores a webhook of a task. Replaces one with the same id. `version`: the protocol version of the call. */
  async create({
    scope,
    request,
    version,
  }: ScopedRequest<TaskPushNotificationConfig> & { readonly version: string }): Promise<TaskPushNotificationConfig> {
    const { storage, ids } = this.#options;
    this.#check(request, '');
    const { taskId = '', id = ids.random() } = request;
    const config = { ...request, taskId, id };
    const result = await storage.push.putConfig(scope, { ...config, registeredIn: version }, this.limit);
    if (result === 'put') return config;
    throw result === 'full' ? this.noRoom(taskId) : new TaskNotFoundError(taskId);
  }

  async get({ scope, request }: ScopedRequest<GetTaskPushNotificationConfigRequest>) {
    const { taskId, id } = request;
    const config = await this.#options.storage.push.config(scope, taskId, id);
    if (config === undefined) throw new TaskNotFoundError(taskId);
    return publicConfig(config);
  }

  async list({
    scope,
    request,
  }: ScopedRequest<ListTaskPushNotificationConfigsRequest>): Promise<ListTaskPushNotificationConfigsResponse> {
    const { taskId, pageSize = DEFAULT_PAGE_SIZE, pageToken } = request;
    const cursor = pageToken === undefined ? undefined : decodeToken(pageToken);
    const limit = pageSize + 1;
    const found = await this.#options.storage.push.configs(scope, taskId, { limit, ...(cursor && { cursor }) });
    if (found === undefined) throw new TaskNotFoundError(taskId);
    const configs = found.slice(0, pageSize).map(publicConfig);
    const last = found.length > pageSize ? configs.at(-1)?.id : undefined;
    return { configs, nextPageToken: last === undefined ? '' : encodeToken(last) };
  }

  /** Deletes a webhook. It is no error if the task has no such webhook (Spec §3.1.10). */
  async delete({ scope, request }: ScopedRequest<DeleteTaskPushNotificationConfigRequest>): Promise<undefined> {
    const isThere = await this.#options.storage.push.deleteConfig(scope, request.taskId, request.id);
    if (!isThere) throw new TaskNotFoundError(request.taskId);
  }

  /**
   * Returns the stored form of the webhook of a message.
   * @throws InvalidParamsError
   */
  ofMessage(config: TaskPushNotificationConfig, version: string): StoredPushConfig {
    this.#check(config, 'configuration.taskPushNotificationConfig.');
    // The task is that of the message.
    const { taskId: _, ...webhook } = config;
    return { ...webhook, registeredIn: version };
  }

  /** Returns the error for a configuration beyond the limit of a task. */
  noRoom(taskId: string): A2AError {
    const message = `A task has ${this.limit} push configurations: delete one`;
    return new A2AError('RESOURCE_EXHAUSTED', message, { metadata: { taskId, limit: 'maxConfigs' } });
  }

  #check(config: TaskPushNotificationConfig, prefix: string): void {
    const violations = this.#options.registration.violations(config);
    if (violations.length === 0) return;
    throw new InvalidParamsError(violations.map((one) => ({ ...one, field: `${prefix}${one.field}` })));
  }
}

/**
 * Returns the configuration for readers, without its secrets. Otherwise a list of webhooks would give the credentials
 * of each receiver to every reader of the task (Spec §13.2). The scheme stays.
 */
function publicConfig({ registeredIn: _, token: __, authentication, ...config }: StoredPushConfig) {
  return authentication === undefined ? config : { ...config, authentication: { scheme: authentication.scheme } };
}

function encodeToken(id: string): string {
  return btoa(encodeURIComponent(id.toWellFormed()));
}

/** @throws InvalidParamsError if the server did not make the token. */
function decodeToken(token: string): string {
  try {
    const id = decodeURIComponent(atob(token));
    if (id !== '' && encodeToken(id) === token) return id;
  } catch {
    // The text is not base64, or not percent-encoded.
  }
  throw new InvalidParamsError([{ field: 'pageToken', description: 'is not a page token of this agent' }]);
}
