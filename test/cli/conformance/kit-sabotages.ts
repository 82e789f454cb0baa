import {
  answers,
  asksFor,
  BROKEN,
  begins,
  breaksOver,
  calls,
  continues,
  events,
  has,
  isOf,
  list,
  plays,
  requests,
  type Sabotages,
  set,
  streams,
  without,
} from './sabotage.js';
import type { Sabotage, Said } from './tampering-agent.js';

const PART = 'task.artifacts.0.parts.0';
const MADE_UP = { id: 'made-up', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };
const ANOTHER = { artifactId: 'another', parts: [{ text: 'Generated text content' }] };
const state = (path: string, to: string) => set(`${path}.state`, `TASK_STATE_${to}`);
const isEmpty = (result: object | undefined) => has(result, '"tasks":[]');

/** At least one fault for each scenario of the kit and each further check with it. */
export const KIT_SABOTAGES: Sabotages = {
  'tck-complete-task: a completed task that says so': {
    'says something else': answers(begins('tck-complete-task'), set('task.status.message.parts.0.text', 'Hi')),
  },
  'tck-artifact-text: a text artifact': {
    'drops it': answers(begins('tck-artifact-text'), set('task.artifacts', undefined)),
    'shows it twice': answers(begins('tck-artifact-text'), set('task.artifacts', [ANOTHER, ANOTHER])),
  },
  'tck-artifact-file: a file artifact with its bytes': {
    'forgets its name': answers(begins('tck-artifact-file'), set(`${PART}.filename`, undefined)),
  },
  'tck-artifact-file-url: a file artifact by its URL': {
    'gives another URL': answers(begins('tck-artifact-file-url'), set(`${PART}.url`, 'https://example.com/')),
  },
  'tck-artifact-data: a data artifact': {
    'makes a number a text': answers(begins('tck-artifact-data'), set(`${PART}.data.count`, '42')),
  },
  'tck-reject-task: a rejected task': {
    'says COMPLETED': answers(begins('tck-reject-task'), state('task.status', 'COMPLETED')),
  },
  'tck-input-required: a task that waits for input': {
    'says WORKING': answers(begins('tck-input-required'), state('task.status', 'WORKING')),
  },
  'tck-message-response: a message and no task': {
    'makes a task': answers(begins('tck-message-response'), () => ({ task: MADE_UP })),
    'speaks as the user': answers(begins('tck-message-response'), set('message.role', 'ROLE_USER')),
  },
  'tck-input-required: a message to the waiting task completes it': {
    'makes another task': answers(continues, set('task.id', 'another')),
    'says WORKING': answers(continues, state('task.status', 'WORKING')),
  },
  'tck-message-response: as a stream, that message alone': {
    'makes a task': streams(plays('tck-message-response'), () => [{ task: MADE_UP }]),
  },
  'tck-stream-001: a stream with an artifact': {
    'drops it': without(plays('tck-stream-001'), 'artifactUpdate'),
  },
  'tck-stream-002: a stream without artifacts': {
    'shows one': streams(plays('tck-stream-002'), (event) =>
      has(event, 'COMPLETED') ? [{ artifactUpdate: { ...idsOf(event), artifact: ANOTHER } }, event] : [event],
    ),
  },
  'tck-stream-003: a stream from the task to its end': {
    'leaves the task out': without(plays('tck-stream-003'), 'task'),
    'shows another task': events(plays('tck-stream-003'), 'artifactUpdate.taskId', 'another'),
    'shows another context': events(plays('tck-stream-003'), 'artifactUpdate.contextId', 'another'),
    'breaks off': without(plays('tck-stream-003'), 'end'),
  },
  'tck-stream-ordering-001: events in the order of the work': { 'swaps two': swapEvents('tck-stream-ordering-001') },
  'tck-stream-artifact-text: a streamed text artifact': {
    'shows another text': events(plays('tck-stream-artifact-text'), 'artifactUpdate.artifact.parts.0.text', ''),
  },
  'tck-stream-artifact-file: a streamed file artifact': {
    'forgets its type': events(plays('tck-stream-artifact-file'), 'artifactUpdate.artifact.parts.0.mediaType', ''),
  },
  'tck-stream-artifact-chunked: an artifact in two chunks': {
    'does not append': events(plays('tck-stream-artifact-chunked'), 'artifactUpdate.append', undefined),
    'names no last one': events(plays('tck-stream-artifact-chunked'), 'artifactUpdate.lastChunk', undefined),
  },
  'test-resubscribe-message-id: a new subscription begins with the task and shows its end': {
    'leaves the task out': dropTask(),
  },
  'GetTask shows the artifacts of a task': {
    'shows none': answers(
      (call, result) => call.operation === 'GetTask' && has(result, 'Generated text'),
      set('artifacts', undefined),
    ),
  },
  'GetTask joins the chunks of an artifact': {
    'shows the last one': answers(
      (call, result) => call.operation === 'GetTask' && has(result, 'chunk-2'),
      set('artifacts.0.parts', [{ text: 'chunk-2' }]),
    ),
  },
  'returnImmediately is answered before the work is done': {
    'says COMPLETED': answers(begins('test-resubscribe-message-id'), state('task.status', 'COMPLETED')),
  },
  'CancelTask makes a working task CANCELED': {
    'says WORKING': answers(calls('CancelTask'), state('status', 'WORKING')),
  },
  'CancelTask of a completed task is TaskNotCancelable': { breaks: breaksOver(calls('CancelTask'), 'NOT_CANCELABLE') },
  'a message to a completed task is UnsupportedOperation': { breaks: breaksOver(continues, 'UNSUPPORTED') },
  'a message to a task in the context of another is refused': {
    'takes it': requests(continues, set('message.contextId', undefined)),
  },
  'a message in a context makes another task there': {
    'makes another context': answers(
      (call) => begins('tck-complete-task')(call) && has(call.params.message, '"contextId"'),
      set('task.contextId', 'another'),
    ),
  },
  'historyLength 0 leaves the history out': {
    'shows it': requests(asksFor('historyLength', '0'), set('historyLength', undefined)),
  },
  'historyLength limits the history to the latest messages': {
    'shows all': requests(asksFor('historyLength', '1'), set('historyLength', undefined)),
    'shows an old one': answers(asksFor('historyLength', '1'), set('history.0.messageId', 'older')),
  },
  'a stream is closed when its task has ended': {
    'keeps it open': { tampersWith: plays('tck-complete-task'), holds: true },
  },
  'SubscribeToTask of an unknown task is TaskNotFound': { breaks: breaksOver(calls('SubscribeToTask'), 'NOT_FOUND') },
  'SubscribeToTask of a completed task is UnsupportedOperation': {
    breaks: breaksOver(calls('SubscribeToTask'), 'UNSUPPORTED'),
  },
  'two subscribers of a task see the same, also if a third one leaves': {
    'tells one another end': failThirdSubscriber(),
  },
  'ListTasks filters by context': {
    'leaves one out': answers(
      (call, result) => calls('ListTasks', 'contextId')(call) && !isEmpty(result),
      list('tasks', (tasks) => tasks.slice(1)),
    ),
  },
  'ListTasks of an unknown context is empty': {
    'shows one': answers(
      (call, result) => calls('ListTasks', 'contextId')(call) && isEmpty(result),
      set('tasks', [MADE_UP]),
    ),
  },
  'ListTasks filters by state': {
    'shows all': requests(calls('ListTasks', 'contextId', 'status'), set('status', undefined)),
  },
  'ListTasks filters by the time of the status': {
    'shows all': requests(
      calls('ListTasks', 'contextId', 'statusTimestampAfter'),
      set('statusTimestampAfter', undefined),
    ),
  },
  'ListTasks begins with the newest status': {
    'begins with the oldest': answers(
      calls('ListTasks', 'contextId'),
      list('tasks', (tasks) => tasks.toReversed()),
    ),
  },
  'ListTasks gives every task on one of its pages': {
    'begins anew': requests(calls('ListTasks', 'contextId', 'pageSize', 'pageToken'), set('pageToken', undefined)),
    'ends early': answers(asksFor('pageSize', '2'), set('nextPageToken', '')),
  },
  'ListTasks counts all matching tasks': {
    'counts the page': answers(calls('ListTasks', 'contextId', 'pageSize'), set('totalSize', 1)),
  },
  'ListTasks leaves artifacts out': {
    'shows them': answers(
      calls('ListTasks', 'contextId'),
      list('tasks', (tasks) => tasks.map(set('artifacts', []))),
    ),
  },
  'ListTasks shows artifacts on request': {
    'leaves them out': requests(
      calls('ListTasks', 'contextId', 'includeArtifacts'),
      set('includeArtifacts', undefined),
    ),
  },
  'ListTasks refuses a page of more than 100': {
    'gives a smaller one': requests(asksFor('pageSize', '101'), set('pageSize', undefined)),
  },
  'ListTasks refuses a page token that it never gave': {
    'begins anew': requests(asksFor('pageToken', 'parley!'), set('pageToken', undefined)),
  },
};

/** Faults of an agent without push notifications. */
export const PUSHLESS_SABOTAGES: Sabotages = {
  'a push configuration cannot be created if the card offers none': {
    'makes it': {
      tampersWith: calls('CreateTaskPushNotificationConfig'),
      answer: ({ params }) => ({ status: 200, result: params }),
    },
  },
};

/** Faults of an agent with push notifications. */
export const PUSH_SABOTAGES: Sabotages = {
  'a push configuration can be read and listed': {
    'reads another': answers(calls('GetTaskPushNotificationConfig'), set('url', 'https://example.com/another')),
    'lists none': answers(
      (call, result) => call.operation === 'ListTaskPushNotificationConfigs' && has(result, 'parley'),
      set('configs', []),
    ),
  },
  'a push configuration can be deleted, and then again': { 'refuses the second time': refuseSecondDelete() },
};

function idsOf(event: object): object {
  const { taskId, contextId } = Object.values(event)[0];
  return { taskId, contextId };
}

/** Moves the working status behind the first artifact. */
function swapEvents(prefix: string): Sabotage {
  return {
    tampersWith: plays(prefix),
    events: () => {
      const held: Said[] = [];
      return (said) => {
        if (has(said, 'TASK_STATE_WORKING')) held.push(said);
        else return has(said, 'artifactUpdate') ? [said, ...held] : [said];
        return [];
      };
    },
  };
}

/** Omits the task from the subscription after a stream. */
function dropTask(): Sabotage {
  let isStreamed = false;
  return {
    tampersWith: (call) => {
      if (isOf(call, 'test-resubscribe-message-id')) isStreamed = call.operation === 'SendStreamingMessage';
      return isStreamed && call.operation === 'SubscribeToTask';
    },
    events: () => (said) => (has(said, '"task":') ? [] : [said]),
  };
}

/** Reports to the third subscriber of a task that it failed. */
function failThirdSubscriber(): Sabotage {
  const subscribers = new Map<unknown, number>();
  return {
    tampersWith: ({ operation, params }) => {
      if (operation !== 'SubscribeToTask') return false;
      const number = (subscribers.get(params.id) ?? 0) + 1;
      subscribers.set(params.id, number);
      return number === 3;
    },
    events: () => (said) =>
      has(said, 'COMPLETED') ? [{ result: state('statusUpdate.status', 'FAILED')(said.result ?? {}) }] : [said],
  };
}

/** Refuses the second deletion of a configuration. */
function refuseSecondDelete(): Sabotage {
  const removed = new Set<unknown>();
  return {
    tampersWith: calls('DeleteTaskPushNotificationConfig'),
    answer: ({ params }, said) => {
      const isSecond = removed.has(params.taskId);
      removed.add(params.taskId);
      return isSecond ? BROKEN : said;
    },
  };
}
