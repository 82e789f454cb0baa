import { SUBJECT_NAMES, type SubjectName } from './subjects.js';

/** The text of every request, and the answer of the agent of `call` and `task`. */
export const QUESTION = 'Hello, what is the weather like in Berlin tomorrow?';

/** Number of chunks of the agent of `stream`. */
export const CHUNKS = 50;
export const chunkText = (index: number): string => `This is chunk ${index} of an answer. `;

/** The pause before each chunk: each comes in a turn of the event loop of its own, like the tokens of a model. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Number of tasks on a page of a list. */
export const PAGE_SIZE = 50;

/** The pause before each event of the fan-out: long enough that none waits for the next and shares a write with it. */
export const betweenEvents = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

export const WORKLOAD_NAMES = [
  'call',
  'task',
  'stream',
  'get',
  'list-1k',
  'list',
  'call-rest',
  'task-rest',
  'stream-rest',
  'call-0.3',
  'task-0.3',
  'stream-0.3',
] as const;
export type WorkloadName = (typeof WORKLOAD_NAMES)[number];

/** The kind of an answer, which decides its check. */
export type AnswerKind = 'call' | 'task' | 'stream' | 'get' | 'list';

/** One kind of request that the subjects are loaded with. */
export interface Workload {
  readonly title: string;
  readonly kind: AnswerKind;
  /** The method of a JSON-RPC call; without one it is HTTP+JSON at `path`. */
  readonly method?:
    | 'SendMessage'
    | 'SendStreamingMessage'
    | 'GetTask'
    | 'ListTasks'
    | 'message/send'
    | 'message/stream';
  /** The version of the protocol that is spoken. */
  readonly version: '1.0' | '0.3';
  readonly path: string;
  /** The counted unit: answers, or the events within them. */
  readonly unit: 'req/s' | 'events/s';
  readonly countPerAnswer: number;
  /** Number of answers after which V8 has compiled a server in JavaScript. */
  readonly warmUpAnswers: number;
  /** Finished tasks of the caller that are stored before. */
  readonly tasks: number;
  readonly subjects: readonly SubjectName[];
  /** Measured only when it is named. */
  readonly optional: boolean;
}

/** SUBMITTED, WORKING, the chunks, COMPLETED. */
export const STREAM_EVENTS = CHUNKS + 3;

const unary = {
  path: '/',
  version: '1.0',
  unit: 'req/s',
  countPerAnswer: 1,
  warmUpAnswers: 20_000,
  tasks: 0,
  optional: false,
} as const;
const call = { ...unary, title: 'SendMessage answered by a Message', kind: 'call', subjects: SUBJECT_NAMES } as const;
const task = {
  ...unary,
  title: 'SendMessage running a task to COMPLETED, one artifact',
  kind: 'task',
  subjects: SUBJECT_NAMES,
} as const;
const stream = {
  ...unary,
  title: `SendStreamingMessage, ${CHUNKS} chunks`,
  kind: 'stream',
  unit: 'events/s',
  countPerAnswer: STREAM_EVENTS,
  warmUpAnswers: 1000,
  subjects: SUBJECT_NAMES,
} as const;
const list = { ...unary, kind: 'list', method: 'ListTasks', warmUpAnswers: 2000 } as const;
const old = { version: '0.3', optional: true, subjects: ['memory'] } as const;
const rest = { optional: true, subjects: ['ceiling', 'peer', 'memory', 'sqlite'] } as const;

/** The workloads of the benchmark. */
export const WORKLOADS: { readonly [Name in WorkloadName]: Workload } = {
  call: { ...call, method: 'SendMessage' },
  task: { ...task, method: 'SendMessage' },
  stream: { ...stream, method: 'SendStreamingMessage' },
  get: {
    ...unary,
    title: 'GetTask among 100,000 finished tasks',
    kind: 'get',
    method: 'GetTask',
    tasks: 100_000,
    subjects: ['ceiling', 'peer', 'go', 'python', 'rust', 'memory', 'sqlite'],
  },
  'list-1k': {
    ...list,
    title: `ListTasks, the newest ${PAGE_SIZE} of 1,000 tasks of one owner`,
    tasks: 1000,
    subjects: ['peer', 'go', 'python', 'rust', 'memory', 'sqlite'],
  },
  list: {
    ...list,
    title: `ListTasks, the newest ${PAGE_SIZE} of 100,000 tasks of one owner`,
    tasks: 100_000,
    subjects: ['memory', 'sqlite'],
  },
  'call-rest': { ...call, ...rest, title: 'call over HTTP+JSON', path: '/a2a/rest/message:send' },
  'task-rest': { ...task, ...rest, title: 'task over HTTP+JSON', path: '/a2a/rest/message:send' },
  'stream-rest': { ...stream, ...rest, title: 'stream over HTTP+JSON', path: '/a2a/rest/message:stream' },
  'call-0.3': { ...call, ...old, title: 'call in version 0.3', method: 'message/send' },
  'task-0.3': { ...task, ...old, title: 'task in version 0.3', method: 'message/send' },
  'stream-0.3': { ...stream, ...old, title: 'stream in version 0.3', method: 'message/stream' },
};

/** The parameters of a call. The given texts stand for the number of the request and of the task. */
export function paramsOf({ kind, version }: Workload, messageId: string, taskId: string): object {
  if (kind === 'get') return { id: taskId };
  if (kind === 'list') return { pageSize: PAGE_SIZE };
  const message =
    version === '1.0'
      ? { messageId, role: 'ROLE_USER', parts: [{ text: QUESTION }] }
      : { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text: QUESTION }] };
  return { message, configuration: { acceptedOutputModes: ['text/plain'] } };
}
