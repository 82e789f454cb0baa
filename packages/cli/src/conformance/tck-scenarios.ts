import { isDeepStrictEqual } from 'node:util';
import type { Part, Task } from 'parley-a2a';
import type { Check, CheckedAgent } from './checks.js';
import { type Finding, fail, faultless, pass, skipped } from './finding.js';
import { kitMessage, kitTask, stateOf } from './kit-message.js';
import { frameFault, stepsOf } from './stream-steps.js';

/** Members that a part has to have. */
type WantedPart = Readonly<Record<string, unknown>>;

/** Any value. */
const ANY = Symbol('any');

interface AnswerScenario {
  readonly prefix: string;
  readonly requirement: string;
  readonly state: string;
  /** The text of the status message. */
  readonly says?: string;
  readonly part?: WantedPart;
}

interface StreamScenario {
  readonly prefix: string;
  readonly requirement: string;
  /** What has to come; SUBMITTED goes without saying, and so does WORKING where it is not named. */
  readonly steps: readonly string[];
  readonly parts: readonly WantedPart[];
}

const text = (value: string): WantedPart => ({ text: value });
const FILE: WantedPart = { raw: ANY, mediaType: 'text/plain', filename: 'output.txt' };
const FILE_URL: WantedPart = { ...FILE, raw: undefined, url: 'https://example.com/output.txt' };
const DATA: WantedPart = { data: { key: 'value', count: 42 } };
const ONE_ARTIFACT = ['WORKING', 'artifact', 'COMPLETED'];

const ANSWERS: readonly AnswerScenario[] = [
  {
    prefix: 'tck-complete-task',
    requirement: 'a completed task that says so',
    state: 'COMPLETED',
    says: 'Hello from TCK',
  },
  {
    prefix: 'tck-artifact-text',
    requirement: 'a text artifact',
    state: 'COMPLETED',
    part: text('Generated text content'),
  },
  { prefix: 'tck-artifact-file', requirement: 'a file artifact with its bytes', state: 'COMPLETED', part: FILE },
  { prefix: 'tck-artifact-file-url', requirement: 'a file artifact by its URL', state: 'COMPLETED', part: FILE_URL },
  { prefix: 'tck-artifact-data', requirement: 'a data artifact', state: 'COMPLETED', part: DATA },
  { prefix: 'tck-reject-task', requirement: 'a rejected task', state: 'REJECTED', says: 'rejected' },
  { prefix: 'tck-input-required', requirement: 'a task that waits for input', state: 'INPUT_REQUIRED' },
];

const STREAMS: readonly StreamScenario[] = [
  {
    prefix: 'tck-stream-001',
    requirement: 'a stream with an artifact',
    steps: ONE_ARTIFACT,
    parts: [text('Stream hello from TCK')],
  },
  { prefix: 'tck-stream-002', requirement: 'a stream without artifacts', steps: ['COMPLETED'], parts: [] },
  {
    prefix: 'tck-stream-003',
    requirement: 'a stream from the task to its end',
    steps: ONE_ARTIFACT,
    parts: [text('Stream task lifecycle')],
  },
  {
    prefix: 'tck-stream-ordering-001',
    requirement: 'events in the order of the work',
    steps: ONE_ARTIFACT,
    parts: [text('Ordered output')],
  },
  {
    prefix: 'tck-stream-artifact-text',
    requirement: 'a streamed text artifact',
    steps: ONE_ARTIFACT,
    parts: [text('Streamed text content')],
  },
  { prefix: 'tck-stream-artifact-file', requirement: 'a streamed file artifact', steps: ONE_ARTIFACT, parts: [FILE] },
  {
    prefix: 'tck-stream-artifact-chunked',
    requirement: 'an artifact in two chunks',
    steps: ['WORKING', 'artifact', 'last append', 'COMPLETED'],
    parts: [text('chunk-1 '), text('chunk-2')],
  },
];

/** The scenarios of the kit, for agents that do what its message ids say. */
export const TCK_SCENARIOS: readonly Check[] = [
  ...ANSWERS.map((scenario) => ({
    spec: '§3.1.1',
    requirement: `${scenario.prefix}: ${scenario.requirement}`,
    run: async (agent: CheckedAgent) => {
      const task = await kitTask(agent, scenario.prefix);
      return faultless(answerFault(task, scenario), `task ${task.id} is ${stateOf(task)}`);
    },
  })),
  {
    spec: '§3.1.1',
    requirement: 'tck-message-response: a message and no task',
    run: async ({ client, signal }) => {
      const answer = await client.sendMessage(kitMessage('tck-message-response'), { signal });
      if ('task' in answer) return fail(`a task that is ${stateOf(answer.task)}`);
      const { role, parts } = answer.message;
      const said = parts.length === 1 && isWanted(parts[0], text('Direct message response'));
      if (role !== 'ROLE_AGENT') return fail(`a message of ${role}`);
      return said ? pass('the message') : fail(`other parts: ${JSON.stringify(parts)}`);
    },
  },
  {
    spec: '§3.4.3',
    requirement: 'tck-input-required: a message to the waiting task completes it',
    run: async (agent) => {
      const { id: taskId, contextId } = await kitTask(agent, 'tck-input-required');
      const task = await kitTask(agent, 'tck-complete-task', { taskId, ...(contextId !== undefined && { contextId }) });
      if (task.id !== taskId) return fail(`task ${taskId} was continued by another one, ${task.id}`);
      return faultless(stateFault(task, 'COMPLETED'), `task ${task.id} is COMPLETED`);
    },
  },
  {
    spec: '§3.1.1',
    requirement: 'tck-message-response: as a stream, that message alone',
    run: (agent) =>
      streaming(agent, async ({ client, signal }) => {
        const { steps } = await stepsOf(client.sendStreamingMessage(kitMessage('tck-message-response'), { signal }));
        return steps.join() === 'message' ? pass('one message') : fail(`it shows ${steps.join(', ')}`);
      }),
  },
  ...STREAMS.map((scenario) => ({
    spec: '§3.1.2',
    requirement: `${scenario.prefix}: ${scenario.requirement}`,
    run: (agent: CheckedAgent) => streaming(agent, (one) => streamFinding(one, scenario)),
  })),
  {
    spec: '§3.1.6',
    requirement: 'test-resubscribe-message-id: a new subscription begins with the task and shows its end',
    run: (agent) =>
      streaming(agent, async ({ client, signal }) => {
        const stream = client.sendStreamingMessage(kitMessage('test-resubscribe-message-id'), { signal });
        await stream.next();
        const { taskId } = stream;
        await stream.return();
        if (taskId === undefined) return fail('the first event names no task');
        const { events, steps } = await stepsOf(client.subscribeToTask(taskId, { signal }));
        const end = steps.at(-1) === 'COMPLETED' ? undefined : `the last state is ${steps.at(-1)}`;
        return faultless(frameFault(events) ?? end, steps.join(', '));
      }),
  },
];

/** Skips what needs streams where the card offers none. */
export async function streaming(agent: CheckedAgent, run: (agent: CheckedAgent) => Promise<Finding>): Promise<Finding> {
  return agent.card.capabilities.streaming === true ? run(agent) : skipped('the card does not offer streaming');
}

async function streamFinding({ client, signal }: CheckedAgent, wanted: StreamScenario): Promise<Finding> {
  const { events, steps, parts } = await stepsOf(client.sendStreamingMessage(kitMessage(wanted.prefix), { signal }));
  const implied = wanted.steps.includes('WORKING') ? ['SUBMITTED'] : ['SUBMITTED', 'WORKING'];
  const shown = steps.filter((step) => !implied.includes(step));
  const order =
    shown.join() === wanted.steps.join()
      ? undefined
      : `it shows ${shown.join(', ')}; expected ${wanted.steps.join(', ')}`;
  return faultless(frameFault(events) ?? order ?? partsFault(parts, wanted.parts), steps.join(', '));
}

function answerFault(task: Task, { state, says, part }: AnswerScenario): string | undefined {
  const said = task.status.message?.parts.map((one) => ('text' in one ? one.text : '')).join('');
  return (
    stateFault(task, state) ??
    (says === undefined || said === says ? undefined : `the status message is "${said ?? ''}", not "${says}"`) ??
    (part === undefined
      ? undefined
      : partsFault(
          (task.artifacts ?? []).flatMap(({ parts }) => parts),
          [part],
        ))
  );
}

/** What is wrong with the state of a task. */
export function stateFault(task: Task, state: string): string | undefined {
  return stateOf(task) === state ? undefined : `task ${task.id} is ${stateOf(task)}, not ${state}`;
}

function partsFault(parts: readonly Part[], wanted: readonly WantedPart[]): string | undefined {
  const right = parts.length === wanted.length && wanted.every((one, index) => isWanted(parts[index], one));
  return right ? undefined : `the parts of artifacts are ${JSON.stringify(parts)}`;
}

function isWanted(part: Part | undefined, wanted: WantedPart): boolean {
  const members: Readonly<Record<string, unknown>> = { ...part };
  return Object.entries(wanted).every(([name, value]) =>
    value === ANY ? name in members : isDeepStrictEqual(members[name], value),
  );
}
