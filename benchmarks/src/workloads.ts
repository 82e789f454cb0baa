/** What every request says, and what the agent of `call` and `task` says back. */
export const QUESTION = 'Hello, what is the weather like in Berlin tomorrow?';

/** How many chunks the agent of `stream` writes, and the text of each. */
export const CHUNKS = 50;
export const chunkText = (index: number): string => `This is chunk ${index} of an answer. `;

/** The pause before each chunk: each comes in a turn of the event loop of its own, like the tokens of a model. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const WORKLOAD_NAMES = ['call', 'task', 'stream'] as const;
export type WorkloadName = (typeof WORKLOAD_NAMES)[number];

/** One kind of request that the subjects are loaded with. */
export interface Workload {
  readonly title: string;
  readonly method: string;
  readonly streaming: boolean;
  /** What is counted: answers, or the events within them. */
  readonly unit: 'req/s' | 'events/s';
  readonly countPerAnswer: number;
  /** So many answers, and a server in JavaScript has been compiled. */
  readonly warmUpAnswers: number;
}

/** SUBMITTED, WORKING, the chunks, COMPLETED. */
export const STREAM_EVENTS = CHUNKS + 3;

/** The workloads of the benchmark. */
export const WORKLOADS: { readonly [Name in WorkloadName]: Workload } = {
  call: {
    title: 'SendMessage answered by a Message',
    method: 'SendMessage',
    streaming: false,
    unit: 'req/s',
    countPerAnswer: 1,
    warmUpAnswers: 20_000,
  },
  task: {
    title: 'SendMessage running a task to COMPLETED, one artifact',
    method: 'SendMessage',
    streaming: false,
    unit: 'req/s',
    countPerAnswer: 1,
    warmUpAnswers: 20_000,
  },
  stream: {
    title: `SendStreamingMessage, ${CHUNKS} chunks`,
    method: 'SendStreamingMessage',
    streaming: true,
    unit: 'events/s',
    countPerAnswer: STREAM_EVENTS,
    warmUpAnswers: 1000,
  },
};
