import type { Authenticator } from '../../auth/authenticator.js';
import { errorBodySchema } from '../../bindings/http/error-schema.js';
import { TASK_STATES } from '../../model/task-state.js';
import type { DescribedOperation, Parameter, Schema } from '../../openapi/document.js';
import { jsonOf, objectOf } from '../openapi/described-answers.js';
import { withHostSecurity } from '../openapi/protected-endpoints.js';
import type { Describe } from '../openapi/server-document.js';

const TAG = { name: 'Operator', description: 'Tasks, webhooks and audit records of all users, for operators.' };
const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const FLAG: Schema = { type: 'boolean' };
const TIME: Schema = { type: 'string', format: 'date-time' };
const STATE: Schema = { type: 'string', enum: TASK_STATES };
const OWNER: Schema = { type: ['string', 'null'] };
const LIMIT: Schema = { type: 'integer', minimum: 1, maximum: 100 };
const SCOPE = { agent: TEXT, tenant: TEXT, owner: OWNER };
const TASK: Schema = partly(
  {
    ...SCOPE,
    ...{ id: TEXT, contextId: OWNER, state: STATE, createdAt: TIME, ageMs: COUNT, silentMs: COUNT },
    ...{ lease: { type: 'string', enum: ['held', 'ended', 'none'] }, lastRecord: COUNT },
  },
  'silentMs',
);
const DELIVERY: Schema = partly(
  {
    ...SCOPE,
    ...{ taskId: TEXT, configId: TEXT, pendingEvents: COUNT, attempts: COUNT, lastStatus: COUNT },
    ...{ parked: TEXT, due: TIME },
  },
  ...['lastStatus', 'parked', 'due'],
);
const REPLICA = objectOf({
  ...{ node: TEXT, agents: listOf(TEXT), runningTurns: COUNT, silentMs: COUNT, ageMs: COUNT, isAlive: FLAG },
});
const STATUS: Schema = partly(
  {
    ...{ replicas: listOf(REPLICA), runningTurns: COUNT, waiting: COUNT, oldestWaitMs: COUNT, oldestDueMs: COUNT },
    ...{ pendingWebhooks: COUNT, parkedWebhooks: COUNT, mostPendingEvents: COUNT, unreadableTasks: COUNT },
    problems: listOf(TEXT),
  },
  ...['oldestWaitMs', 'oldestDueMs'],
);
const RECORD: Schema = { type: 'object', required: ['id', 'time', 'outcome', 'code', 'principal'] };
const REPLAY: Schema = partly(
  { ...SCOPE, taskId: TEXT, configId: TEXT, from: { type: 'integer', minimum: 1 } },
  ...['tenant', 'owner', 'from'],
);

const AGENT = query('agent', 'Only this agent: its id, or its path.');
const CURSOR = query('cursor', 'The `next` of the page before.');
const PAGE = [query('limit', 'Entries of a page.', LIMIT), CURSOR];
const ONE_TASK: readonly Parameter[] = [
  { name: 'id', in: 'path', required: true, description: 'The id of the task.', schema: TEXT },
  { ...AGENT, required: true, description: 'The agent of the task.' },
  query('tenant', 'The tenant of the task.'),
  query('owner', 'The owner of the task; absent: an anonymous caller.'),
];

/** The operator API for a document. The authenticators are those of operators: any one is enough. */
export function describedOperator(path: string, authenticators: readonly Authenticator[]): Describe {
  const describe: Describe = (components) => {
    const refused = jsonOf('The request is refused', errorBodySchema(components));
    const operation = (
      operationId: string,
      summary: string,
      answer: Schema,
      more: Partial<DescribedOperation> = {},
    ) => ({
      ...{ operationId, summary, tags: [TAG.name] },
      ...more,
      responses: { 200: jsonOf('The answer', answer), default: refused },
    });
    const get = (operationId: string, summary: string, answer: Schema, parameters: readonly Parameter[] = []) => ({
      get: operation(operationId, summary, answer, { parameters }),
    });
    const task = components.add('OperatorTask', TASK);
    const records = listOf(objectOf({ seq: COUNT, turn: COUNT, event: { type: 'object' } }));
    const one = objectOf({ task: { type: 'object' }, records, floor: COUNT, last: COUNT });
    const list = [
      ...[AGENT, query('owner', 'Only this user.')],
      query('state', 'Only this state; may be repeated.', listOf(STATE)),
      query('olderThanMs', 'Only tasks that were created longer ago.', COUNT),
    ];
    const audit = ['agent', 'taskId', 'operation'].map((name) => query(name, `Only records with this ${name}.`));
    const outcome: Schema = { type: 'string', enum: ['done', 'refused', 'failed'] };
    const standing: Schema = { type: 'string', enum: ['parked', 'pending'] };
    return {
      tags: [TAG],
      paths: {
        [`${path}/status`]: get('readClusterStatus', 'The replicas and their queues', STATUS),
        [`${path}/counts`]: get('countTasks', 'Count tasks by state', pageOf({ counts: countsOf() }), [AGENT, CURSOR]),
        [`${path}/tasks`]: get('listAllTasks', 'List tasks of all owners', pageOf({ tasks: listOf(task) }), [
          ...list,
          ...PAGE,
        ]),
        [`${path}/tasks/{id}`]: {
          ...get(
            'readTask',
            'Read a task with its records',
            { ...one, properties: { ...Object(one.properties), next: COUNT } },
            [...ONE_TASK, query('after', 'Records behind this number.', COUNT)],
          ),
          delete: operation('deleteTask', 'Delete a task', objectOf({ result: TEXT }), { parameters: ONE_TASK }),
        },
        [`${path}/deliveries`]: get('listDeliveries', 'List webhooks', pageOf({ deliveries: listOf(DELIVERY) }), [
          AGENT,
          query('standing', 'Webhooks that were given up, or that have pending events.', standing),
          ...PAGE,
        ]),
        [`${path}/audit`]: get(
          'readAuditRecords',
          'Read audit records, the last one first',
          pageOf({ records: listOf(RECORD), unreadable: COUNT }),
          [...audit, query('outcome', 'Only records with this outcome.', outcome), ...PAGE],
        ),
        [`${path}/replays`]: {
          post: operation('replayDelivery', 'Deliver the events of a webhook again', objectOf({ result: TEXT }), {
            requestBody: { required: true, content: { 'application/json': { schema: REPLAY } } },
          }),
        },
      },
    };
  };
  return withHostSecurity(describe, () => authenticators);
}

function query(name: string, description: string, schema: Schema = TEXT): Parameter {
  return { name, in: 'query', description, schema };
}

function listOf(items: object): Schema {
  return { type: 'array', items };
}

function countsOf(): Schema {
  return { type: 'object', additionalProperties: COUNT };
}

function pageOf(members: Readonly<Record<string, Schema>>): Schema {
  return partly({ ...members, next: TEXT }, 'next');
}

/** An object of which these members may be absent. */
function partly(properties: Readonly<Record<string, Schema>>, ...absent: readonly string[]): Schema {
  return { type: 'object', required: Object.keys(properties).filter((name) => !absent.includes(name)), properties };
}
