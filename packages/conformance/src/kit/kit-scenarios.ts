import { isDeepStrictEqual } from 'node:util';
import type { Check } from '../check.js';
import { frameFault, stepsOf, taskIdOf } from '../checks/stream-steps.js';
import { type Finding, fail, faultless, pass, skip } from '../finding.js';
import type { Part, Task, TestedAgent } from '../tested-agent.js';
import { kitMessage, kitTask } from './kit-message.js';

/** Members that a part has to have. */
type WantedPart = Readonly<Record<string, unknown>>;

/** Matches any value of a member. */
const ANY = Symbol('any');

interface AnswerScenario {
  readonly prefix: string;
  readonly requirement: string;
  readonly state: string;
  /** Text of the status message. */
  readonly says?: string;
  readonly part?: WantedPart;
}

interface StreamScenario {
  readonly prefix: string;
  readonly requirement: string;
  /** Required steps. SUBMITTED may always come, WORKING if it is not among them. */
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

/** The scenarios of the kit, for agents that play them. */
export const KIT_SCENARIOS: readonly Check[] = [
  ...ANSWERS.map((scenario) => ({
    spec: '§3.1.1',
    requirement: `${scenario.prefix}: ${scenario.requirement}`,
    run: async (agent: TestedAgent) => {
      const task = await kitTask(agent, scenario.prefix);
      return faultless(answerFault(task, scenario), `task ${task.id} is ${task.status.state}`);
    },
  })),
  {
    spec: '§3.1.1',
    requirement: 'tck-message-response: a message and no task',
    run: async (agent) => {
      const answer = await agent.send(kitMessage('tck-message-response'));
      if ('task' in answer) return fail(`a task that is ${answer.task.status.state}`);
      const { role, parts } = answer.message;
      const isExpected = parts.length === 1 && isWanted(parts[0], text('Direct message response'));
      if (role !== 'ROLE_AGENT') return fail(`a message of ${role}`);
      return isExpected ? pass('the message') : fail(`other parts: ${JSON.stringify(parts)}`);
    },
  },
  {
    spec: '§3.4.3',
    requirement: 'tck-input-required: a message to the waiting task completes it',
    run: async (agent) => {
      const { id: taskId, contextId } = await kitTask(agent, 'tck-input-required');
      const task = await kitTask(agent, 'tck-complete-task', { taskId, ...(contextId !== undefined && { contextId }) });
      if (task.id !== taskId) return fail(`the answer to task ${taskId} is another task, ${task.id}`);
      return faultless(stateFault(task, 'COMPLETED'), `task ${task.id} is COMPLETED`);
    },
  },
  {
    spec: '§3.1.1',
    requirement: 'tck-message-response: as a stream, that message alone',
    run: (agent) =>
      ifStreaming(agent, async () => {
        const { steps } = await stepsOf(agent.stream(kitMessage('tck-message-response')));
        return steps.join() === 'message' ? pass('one message') : fail(`it shows ${steps.join(', ')}`);
      }),
  },
  ...STREAMS.map((scenario) => ({
    spec: '§3.1.2',
    requirement: `${scenario.prefix}: ${scenario.requirement}`,
    run: (agent: TestedAgent) => ifStreaming(agent, () => streamFinding(agent, scenario)),
  })),
  {
    spec: '§3.1.6',
    requirement: 'test-resubscribe-message-id: a new subscription begins with the task and shows its end',
    run: (agent) =>
      ifStreaming(agent, async () => {
        let taskId: string | undefined;
        for await (const event of await agent.stream(kitMessage('test-resubscribe-message-id'))) {
          taskId = taskIdOf(event);
          break;
        }
        if (taskId === undefined) return fail('the first event names no task');
        const { events, steps } = await stepsOf(agent.subscribe(taskId));
        const end = steps.at(-1) === 'COMPLETED' ? undefined : `the last state is ${steps.at(-1)}`;
        return faultless(frameFault(events) ?? end, steps.join(', '));
      }),
  },
];

/** Skips a check of streams if the card does not offer streaming. */
export async function ifStreaming(agent: TestedAgent, run: () => Promise<Finding>): Promise<Finding> {
  return agent.capabilities.streaming ? run() : skip('the card does not offer streaming');
}

async function streamFinding(agent: TestedAgent, wanted: StreamScenario): Promise<Finding> {
  const { events, steps, parts } = await stepsOf(agent.stream(kitMessage(wanted.prefix)));
  const optional = wanted.steps.includes('WORKING') ? ['SUBMITTED'] : ['SUBMITTED', 'WORKING'];
  const shown = steps.filter((step) => !optional.includes(step));
  const order =
    shown.join() === wanted.steps.join()
      ? undefined
      : `it shows ${shown.join(', ')}; expected ${wanted.steps.join(', ')}`;
  return faultless(frameFault(events) ?? order ?? partsFault(parts, wanted.parts), steps.join(', '));
}

function answerFault(task: Task, { state, says, part }: AnswerScenario): string | undefined {
  const text = task.status.message?.parts.map((one) => ('text' in one ? String(one.text) : '')).join('');
  const parts = (task.artifacts ?? []).flatMap((artifact) => artifact.parts);
  return (
    stateFault(task, state) ??
    (says === undefined || text === says ? undefined : `the status message is "${text ?? ''}", not "${says}"`) ??
    (part === undefined ? undefined : partsFault(parts, [part]))
  );
}

/** Returns the fault of a task that should be in a state. */
export function stateFault({ id, status }: Task, state: string): string | undefined {
  return status.state === state ? undefined : `task ${id} is ${status.state}, not ${state}`;
}

function partsFault(parts: readonly Part[], wanted: readonly WantedPart[]): string | undefined {
  const isRight = parts.length === wanted.length && wanted.every((one, index) => isWanted(parts[index], one));
  return isRight ? undefined : `the parts of artifacts are ${JSON.stringify(parts)}`;
}

function isWanted(part: Part | undefined, wanted: WantedPart): boolean {
  const members: Part = { ...part };
  return Object.entries(wanted).every(([name, value]) =>
    value === ANY ? name in members : isDeepStrictEqual(members[name], value),
  );
}
