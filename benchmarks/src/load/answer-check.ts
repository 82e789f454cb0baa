import { askedTask, storedTaskId } from '../stored-tasks.js';
import { CHUNKS, chunkText, PAGE_SIZE, QUESTION, STREAM_EVENTS, WORKLOADS, type WorkloadName } from '../workloads.js';
import type { HttpAnswer } from './answer-reader.js';
import { RequestBytes } from './request-bytes.js';

/** Texts in the JSON of each version. */
const WORDS = {
  '1.0': { message: '"message":{', completed: '"TASK_STATE_COMPLETED"', chunk: '"artifactUpdate":' },
  '0.3': { message: '"kind":"message"', completed: '"state":"completed"', chunk: '"kind":"artifact-update"' },
} as const;

/** The fault of an answer, or `undefined`. Cheap enough for every answer. */
export function faultOf(name: WorkloadName, number: number, answer: HttpAnswer): string | undefined {
  const { status, body } = answer;
  const { kind, method, tasks, version } = WORKLOADS[name];
  const words = WORDS[version];
  if (status !== 200) return `status ${status}`;
  if (method !== undefined && !body.includes(RequestBytes.idOf(number))) return 'the id is not that of the request';
  switch (kind) {
    case 'call':
      return body.includes(words.message) && body.includes(QUESTION) ? undefined : 'no message with the text sent';
    case 'get':
      if (!body.includes(`"id":"${storedTaskId(askedTask(number, tasks))}"`)) return 'not the task asked for';
      return finishedFault(body, words.completed);
    case 'task':
      return finishedFault(body, words.completed);
    case 'list':
      return count(body, '"TASK_STATE_COMPLETED"') === PAGE_SIZE ? undefined : `not ${PAGE_SIZE} tasks`;
    case 'stream':
      if (count(body, words.chunk) !== CHUNKS) return `not ${CHUNKS} chunks`;
      return body.lastIndexOf(words.completed) > body.lastIndexOf(words.chunk)
        ? undefined
        : 'the last event is not COMPLETED';
  }
}

function finishedFault(body: string, completed: string): string | undefined {
  if (!body.includes(completed)) return 'the task is not COMPLETED';
  return body.includes('"artifacts":[{') ? undefined : 'the task has no artifact';
}

/** Checks an answer completely by parsing it. Used for some of the answers. */
export function deepFaultOf(name: WorkloadName, { body }: HttpAnswer): string | undefined {
  try {
    const fault = WORKLOADS[name].kind === 'stream' ? streamFault(name, body) : resultFault(name, resultOf(name, body));
    return fault && `${fault}: ${body}`;
  } catch (error) {
    return `${String(error)}: ${body}`;
  }
}

interface FinishedTask {
  readonly id: string;
  readonly status: Status;
  readonly artifacts?: readonly { readonly parts: Texts }[];
}
interface Result extends Partial<FinishedTask> {
  readonly message?: { readonly parts: Texts };
  readonly task?: FinishedTask;
  readonly statusUpdate?: { readonly status: Status };
  readonly artifactUpdate?: { readonly artifact: { readonly parts: Texts }; readonly append?: boolean };
  readonly tasks?: readonly FinishedTask[];
  readonly totalSize?: number;
}
type Texts = readonly { readonly text: string }[];
interface Status {
  readonly state: string;
}

function resultFault(name: WorkloadName, result: Result): string | undefined {
  const { kind } = WORKLOADS[name];
  if (kind === 'list') return pageFault(name, result);
  if (kind === 'call')
    return textOf(result.message?.parts) === QUESTION ? undefined : 'the text is not that of the question';
  const task = kind === 'get' ? result : result.task;
  if (task?.status?.state !== 'TASK_STATE_COMPLETED') return 'the task is not COMPLETED';
  if (task.artifacts?.length !== 1) return 'not one artifact';
  return textOf(task.artifacts[0]?.parts) === QUESTION ? undefined : 'the text is not that of the question';
}

/** The page has the newest tasks, newest first. */
function pageFault(name: WorkloadName, { tasks, totalSize }: Result): string | undefined {
  const { tasks: stored } = WORKLOADS[name];
  if (totalSize !== stored) return `${totalSize} in all`;
  const wrong = tasks?.findIndex(({ id }, index) => id !== storedTaskId(stored - 1 - index)) ?? 0;
  return wrong < 0 ? undefined : `the task at ${wrong} is not the one expected there`;
}

function streamFault(name: WorkloadName, body: string): string | undefined {
  const events = body.split(/\r?\n\r?\n/).flatMap((frame) => {
    const line = frame.split(/\r?\n/).find((found) => found.startsWith('data:'));
    return line === undefined ? [] : [resultOf(name, line.slice(5))];
  });
  if (events.length !== STREAM_EVENTS) return `${events.length} events`;
  if (events[0]?.task?.status.state !== 'TASK_STATE_SUBMITTED') return 'the first event is not the task';
  if (events[1]?.statusUpdate?.status.state !== 'TASK_STATE_WORKING') return 'the second event is not WORKING';
  if (events.at(-1)?.statusUpdate?.status.state !== 'TASK_STATE_COMPLETED') return 'the last event is not COMPLETED';
  const wrong = events
    .slice(2, -1)
    .findIndex(
      ({ artifactUpdate: update }, index) =>
        textOf(update?.artifact.parts) !== chunkText(index) || (update?.append ?? false) !== index > 0,
    );
  return wrong < 0 ? undefined : `chunk ${wrong} is wrong`;
}

function resultOf(name: WorkloadName, json: string): Result {
  const value = JSON.parse(json) as Result & { readonly result?: Result };
  const { method, version } = WORKLOADS[name];
  const result = method === undefined ? value : value.result;
  if (result === undefined) throw new TypeError('no result');
  return version === '1.0' ? result : current(result);
}

const MEMBER_OF_KIND: Readonly<Record<string, string>> = {
  task: 'task',
  message: 'message',
  'status-update': 'statusUpdate',
  'artifact-update': 'artifactUpdate',
};

/** A result of 0.3 in the shape of 1.0. */
function current(result: Result): Result {
  const { kind, status } = result as { readonly kind?: string; readonly status?: Status };
  const shown =
    status === undefined ? result : { ...result, status: { state: `TASK_STATE_${status.state.toUpperCase()}` } };
  return { [MEMBER_OF_KIND[kind ?? ''] ?? '']: shown };
}

function textOf(parts: Texts | undefined): string | undefined {
  return parts?.map(({ text }) => text).join('');
}

function count(text: string, wanted: string): number {
  let found = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found++;
  return found;
}
