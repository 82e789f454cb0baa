import { anyAuthenticator } from '../../auth/any-authenticator.js';
import type { Authenticator } from '../../auth/authenticator.js';
import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import { NamedParameters, wrongParameter } from '../../bindings/http/named-parameters.js';
import { toA2AError } from '../../bindings/http/wire-error.js';
import { OptionsError } from '../../errors/options-error.js';
import { TaskNotFoundError } from '../../errors/spec-errors.js';
import { PermissionDeniedError } from '../../errors/standard-errors.js';
import { isObject } from '../../model/json.js';
import { ServedDeliveries } from '../../push/served-deliveries.js';
import { readClusterStatus } from '../../store/cluster-status.js';
import type { AuditRecord } from '../../telemetry/audit-log.js';
import type { HostEndpoint, HostExtension, HostView } from '../host-extension.js';
import { errorAnswer, jsonAnswer, refusedPlain } from '../json-answer.js';
import { READ_METHODS, readOnly, taking } from '../middleware/method-filter.js';
import type { ServedAgent } from '../served-agent.js';
import { OperatorAuthenticator } from './operator-authenticator.js';
import { OperatorTasks } from './operator-tasks.js';

/** The path of the operator API. */
const PATH = '/operator/v1';
const MOST_QUEUES = 100;
const TASK_METHODS = [...READ_METHODS, 'DELETE'];
const MOST_RECORDS = 100;
const BODY_BYTES = 64 * 1024;
/** The members of an audit record that a request can ask for. */
const FILTERS = ['agent', 'taskId', 'operation', 'outcome'] as const;
const OUTCOMES: readonly string[] = ['done', 'refused', 'failed'];
const NO_AUDIT =
  'This server has no audit log that can be read: set A2A_AUDIT_FILE, or use openAuditFile from parley-a2a/node';

/** The callers of an operator API. */
export interface OperatorApiOptions {
  /** The permission of a user who is an operator; default `operator`. */
  readonly permission?: string;
  /** Authenticates operators. Default: the authenticators of the endpoints of the host. */
  readonly authenticator?: Authenticator;
  /**
   * A random text of at least 32 characters, made for one launch. Requests over loopback with it in the header
   * `Operator-Token` are those of an operator. Default: none.
   */
  readonly token?: string;
}

/** The operator API on a host. */
export function operatorExtension(options: OperatorApiOptions): HostExtension {
  return {
    endpoints: (host) => endpointsOf(options, host),
    describe: async (host) => {
      const { describedOperator } = await import('./described-operator.js');
      const { permission = 'operator', token } = options;
      const ofLaunch = new OperatorAuthenticator({ users: undefined, token, permission });
      return describedOperator(PATH, [...usersOf(options, host), ...(token === undefined ? [] : [ofLaunch])]);
    },
  };
}

/** The authenticators that find users: any one is enough. */
function usersOf(
  { authenticator }: { readonly authenticator?: Authenticator | undefined },
  host: HostView,
): readonly Authenticator[] {
  return authenticator === undefined ? host.authenticatorsAt(PATH) : [authenticator];
}

function endpointsOf(
  { permission = 'operator', authenticator, token }: OperatorApiOptions,
  host: HostView,
): readonly HostEndpoint[] {
  const given = usersOf({ authenticator }, host);
  const users = given.length === 0 ? undefined : anyAuthenticator(given);
  if (users === undefined && token === undefined) {
    throw new OptionsError('operatorApi', ['needs an authenticator of the host or a token: it is never open']);
  }
  const shadowing = host.mounts.find(({ path }) => path === PATH || path.startsWith(`${PATH}/`));
  if (shadowing !== undefined) {
    throw new OptionsError('operatorApi', [`needs the paths below ${PATH}, where an agent is served`]);
  }
  const access = {
    authenticator: new OperatorAuthenticator({ users, token, permission }),
    required: true,
    refuse: refusedPlain,
  };
  const api = new OperatorApi(host);
  const at = (path: string, exchange: Exchange, items?: RegExp): HostEndpoint => ({
    path: `${PATH}${path}`,
    ...(items !== undefined && { items }),
    exchange: forOperators(exchange, permission, host),
    access,
    // No page of another origin reads the tasks of all users, whatever it may call.
    without: ['cors', 'start'],
  });
  return [
    at('/status', readOnly(api.status)),
    at('/counts', readOnly(api.counts)),
    at('/tasks', api.tasks, /^[^/]+$/),
    at('/deliveries', readOnly(api.deliveries)),
    at('/audit', readOnly(api.audit)),
    at('/replays', taking({ methods: ['POST'], message: 'This takes replays only' }, api.replay)),
  ];
}

/** The exchange for users with a permission. Errors have the form of those outside of bindings. */
function forOperators(exchange: Exchange, permission: string, { logger }: HostView): Exchange {
  return async (request) => {
    try {
      if (request.user?.permissions?.includes(permission) !== true)
        throw new PermissionDeniedError(`This is for operators: users with the permission ${permission}`);
      const answer = await exchange(request);
      return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } };
    } catch (thrown) {
      const error = toA2AError(thrown, logger, { operation: 'operator', requestId: request.requestId });
      return refusedPlain({ request, error, challenges: [] });
    }
  };
}

/** The answers of the operator API, for the agents of a host whose tasks are in its storage. */
class OperatorApi {
  readonly #host: HostView;
  readonly #agents: ReadonlyMap<string, ServedAgent>;
  readonly #paths: ReadonlyMap<string, string>;
  readonly #tasks: OperatorTasks;

  constructor(host: HostView) {
    this.#host = host;
    this.#agents = new Map(host.mounts.flatMap(({ agent }) => (agent.hasEngine ? [[agent.id, agent]] : [])));
    this.#paths = new Map(host.mounts.map(({ path, agent }) => [path, agent.id]));
    const idOf = (name: string) => this.#idOf(name);
    this.#tasks = new OperatorTasks({ storage: host.storage, agents: [...this.#agents.keys()], idOf });
  }

  /** The id of the agent of this id, or at this path. */
  #idOf(name: string): string {
    return this.#agents.has(name) ? name : (this.#paths.get(name) ?? name);
  }

  readonly status: Exchange = async (request) => {
    new NamedParameters(request.query, []);
    const { storage } = this.#host;
    const runningTurns = [...this.#agents.values()].reduce((sum, agent) => sum + agent.runningTurns, 0);
    const own = { node: 'this process', agents: [...this.#agents.keys()], runningTurns };
    return jsonAnswer({ status: 200, value: await readClusterStatus(storage, storage.shared ? undefined : own) });
  };

  readonly counts: Exchange = async (request) =>
    jsonAnswer({
      status: 200,
      value: await this.#tasks.counts(new NamedParameters(request.query, ['agent', 'cursor'])),
    });

  readonly tasks: Exchange = (request) => {
    const id = request.path.slice(`${PATH}/tasks`.length + 1);
    return (id === '' ? this.#list : this.#task(id))(request);
  };

  readonly #list = readOnly(async ({ query }) => {
    const names = ['agent', 'owner', 'state', 'olderThanMs', 'limit', 'cursor'];
    return jsonAnswer({ status: 200, value: await this.#tasks.list(new NamedParameters(query, names, ['state'])) });
  });

  #task(id: string): Exchange {
    const scope = ['agent', 'tenant', 'owner'];
    return taking({ methods: TASK_METHODS, message: 'A task is read or deleted' }, async ({ method, query }) => {
      const value =
        method === 'DELETE'
          ? await this.#tasks.delete(new NamedParameters(query, scope), decodeSegment(id))
          : await this.#tasks.get(new NamedParameters(query, [...scope, 'after']), decodeSegment(id));
      return jsonAnswer({ status: 200, value });
    });
  }

  readonly deliveries: Exchange = async (request) => {
    const query = new NamedParameters(request.query, ['agent', 'standing', 'limit', 'cursor']);
    const [standing, agent, cursor] = [query.text('standing') ?? 'parked', query.text('agent'), query.text('cursor')];
    const asked = agent && this.#idOf(agent);
    if (standing !== 'parked' && standing !== 'pending') throw wrongParameter('standing', 'must be parked or pending');
    const page = await this.#host.storage.push.queues({
      agents: [...this.#agents.keys()].filter((id) => id === (asked ?? id)),
      standing,
      limit: Math.max(1, query.number('limit', MOST_QUEUES) ?? MOST_QUEUES),
      ...(cursor !== undefined && { cursor }),
    });
    const deliveries = page.queues.map(({ key: { scope, id }, configId, position, last, ...queue }) => {
      const { attempts, lastStatus, parked, dueAt } = queue;
      const due = dueAt === undefined ? undefined : new Date(dueAt).toISOString();
      return { ...scope, taskId: id, configId, pendingEvents: last - position, attempts, lastStatus, parked, due };
    });
    return jsonAnswer({ status: 200, value: { deliveries, next: page.next } });
  };

  readonly audit: Exchange = async (request) => {
    const query = new NamedParameters(request.query, [...FILTERS, 'limit', 'cursor']);
    const { auditLog } = this.#host;
    if (auditLog?.read === undefined) return errorAnswer({ status: 404, message: NO_AUDIT });
    const [outcome, operation] = [query.text('outcome'), query.text('operation')];
    if (outcome !== undefined && !OUTCOMES.includes(outcome))
      throw wrongParameter('outcome', `must be ${OUTCOMES.join(', ')}`);
    const cursor = query.text('cursor');
    const agent = query.text('agent');
    const asked = { agent: agent && this.#idOf(agent), taskId: query.text('taskId'), outcome, operation };
    const isWanted = (record: AuditRecord) =>
      FILTERS.every((name) => asked[name] === undefined || asked[name] === record[name]);
    const page = await auditLog.read({
      limit: Math.max(1, query.number('limit', MOST_RECORDS) ?? 50),
      isWanted,
      ...(cursor !== undefined && { cursor }),
    });
    if (page === undefined) throw wrongParameter('cursor', 'is none that a page gave as next, or its file is gone');
    return jsonAnswer({ status: 200, value: page });
  };

  readonly replay: Exchange = async (request) => {
    const { agent: name, tenant = '', owner = null, taskId, configId, from } = await replayIn(request);
    const agent = this.#idOf(name);
    if (!this.#agents.has(agent)) throw new TaskNotFoundError(taskId);
    const { storage, recorded } = this.#host;
    const queue = { key: { scope: { agent, tenant, owner }, id: taskId }, configId };
    const result = await new ServedDeliveries({ agent, storage, recorded }).replay(queue, from);
    if (result === 'not-found') throw new TaskNotFoundError(taskId);
    if (result === 'not-kept') throw wrongParameter('from', 'is no event that the log has');
    return jsonAnswer({ status: 200, value: { result } });
  };
}

interface Replay {
  readonly agent: string;
  readonly tenant?: string;
  readonly owner?: string | null;
  readonly taskId: string;
  readonly configId: string;
  readonly from?: number;
}

/** @throws InvalidParamsError for a body that names no queue. */
async function replayIn(request: ExchangeRequest): Promise<Replay> {
  // A form of another site cannot send this type without asking.
  if (request.header('content-type')?.startsWith('application/json') !== true)
    throw wrongParameter('content-type', 'must be application/json');
  const body = parseBody(new TextDecoder().decode(await request.body(BODY_BYTES)));
  if (!isObject(body)) throw wrongParameter('body', 'must be a JSON object');
  for (const name of ['agent', 'taskId', 'configId']) {
    if (typeof body[name] !== 'string') throw wrongParameter(name, 'must be a text');
  }
  if (!['string', 'undefined'].includes(typeof body.tenant)) throw wrongParameter('tenant', 'must be a text');
  if (body.owner !== null && !['string', 'undefined'].includes(typeof body.owner))
    throw wrongParameter('owner', 'must be a text or null');
  if (body.from !== undefined && !(Number.isSafeInteger(body.from) && Number(body.from) > 0))
    throw wrongParameter('from', 'must be the number of an event');
  return body as unknown as Replay;
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws InvalidParamsError for a path that is no text. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw wrongParameter('id', 'is not percent-encoded');
  }
}
