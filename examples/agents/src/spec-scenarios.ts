import type { EventQueue, RequestContext } from 'parley-a2a/server';
import type { AgentClock } from './agent-clock.js';

/** The turn of a scenario and the text that chose it. */
export interface ScenarioTurn {
  readonly text: string;
  readonly context: RequestContext;
  readonly events: EventQueue;
  readonly clock: AgentClock;
}

/** One scenario of the spec agent: its keyword, its row in the card, and its behaviour. */
export interface Scenario {
  readonly keyword: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  run(turn: ScenarioTurn): Promise<void>;
}

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"><circle cx="16" cy="16" r="12" fill="teal"/></svg>';

/** All scenarios, in the order of the skills in the card. */
export const SCENARIOS: readonly Scenario[] = [
  {
    keyword: 'message-only',
    name: 'Message only',
    description: 'Answers with a message and makes no task.',
    tags: ['message'],
    run: ({ text, events }) => events.message(`[message-only] You said: ${text}`),
  },
  {
    keyword: 'task-lifecycle',
    name: 'Task lifecycle',
    description: 'Works for a moment, gives one artifact and completes.',
    tags: ['task', 'artifact'],
    async run({ text, context, events, clock }) {
      await events.working();
      if (!(await clock.pause(300, context.signal))) return;
      await events.artifact(`[task-lifecycle] Processed: ${text}`, {
        artifactId: 'result',
        name: 'result',
        description: 'The outcome of the work.',
      });
      await events.complete();
    },
  },
  {
    keyword: 'task-failure',
    name: 'Task failure',
    description: 'Fails, always.',
    tags: ['task', 'failure'],
    async run({ events }) {
      await events.working();
      await events.fail('[task-failure] Simulated failure: this task was designed to fail for testing purposes.');
    },
  },
  {
    keyword: 'task-cancel',
    name: 'Task cancel',
    description: 'Works for thirty seconds, for a client to cancel it.',
    tags: ['task', 'cancel'],
    async run({ context, events, clock }) {
      await events.working('[task-cancel] Working... send a cancel request to this task.');
      if (!(await clock.pause(30_000, context.signal))) return;
      await events.complete('[task-cancel] No cancel request came within 30 s; completed.');
    },
  },
  {
    keyword: 'multi-turn',
    name: 'Multi-turn',
    description: 'Asks for more until it is told that the conversation is done.',
    tags: ['task', 'multi-turn', 'input-required'],
    async run({ text, events }) {
      await events.artifact(`[multi-turn] Received initial message: ${text}`, { artifactId: 'turn-1', name: 'turn-1' });
      await events.inputRequired('[multi-turn] What else? Send another message, or one that says "done".');
    },
  },
  {
    keyword: 'streaming',
    name: 'Streaming',
    description: 'Streams one artifact in four chunks.',
    tags: ['task', 'streaming', 'artifact'],
    async run({ context, events, clock }) {
      await events.working('[streaming] Streaming four chunks...');
      const artifactId = await events.artifact('[streaming] Chunk 1: the beginning. ', {
        artifactId: 'stream-result',
        name: 'stream-result',
      });
      for (const [index, words] of ['a part that follows. ', 'another one. ', 'the end.'].entries()) {
        if (!(await clock.pause(500, context.signal))) return;
        await events.append(
          artifactId,
          `[streaming] Chunk ${index + 2}: ${words}`,
          index === 2 ? { lastChunk: true } : {},
        );
      }
      await events.complete('[streaming] All four chunks are sent.');
    },
  },
  {
    keyword: 'long-running',
    name: 'Long-running',
    description: 'Works through five steps of two seconds, with an artifact each.',
    tags: ['task', 'long-running', 'progress'],
    async run({ context, events, clock }) {
      for (let step = 1; step <= 5; step++) {
        await events.working(`[long-running] Step ${step}/5: Processing...`);
        if (!(await clock.pause(2000, context.signal))) return;
        const id = `step-${step}`;
        await events.artifact(`[long-running] Step ${step}/5: Done.`, { artifactId: id, name: id });
      }
      await events.complete();
    },
  },
  {
    keyword: 'data-types',
    name: 'Data types',
    description: 'Gives an artifact of every kind of part: text, data, file, and several in one.',
    tags: ['task', 'artifact', 'data', 'file'],
    async run({ text, events, clock }) {
      await events.working();
      await events.artifact('[data-types] This is a text artifact.', {
        artifactId: 'text-artifact',
        name: 'text-artifact',
      });
      await events.artifact(
        {
          data: {
            type: 'structured-data',
            timestamp: clock.now().toISOString(),
            input: text,
            metrics: { characters: text.length, words: text.split(/\s+/).filter(Boolean).length },
          },
          mediaType: 'application/json',
        },
        { artifactId: 'data-artifact', name: 'data-artifact' },
      );
      await events.artifact(
        { raw: Buffer.from(SVG).toString('base64'), mediaType: 'image/svg+xml', filename: 'test.svg' },
        { artifactId: 'file-artifact', name: 'file-artifact' },
      );
      await events.artifact(
        [{ text: '[data-types] Text beside data.' }, { data: { beside: 'text' }, mediaType: 'application/json' }],
        { artifactId: 'multi-part-artifact', name: 'multi-part-artifact' },
      );
      await events.complete();
    },
  },
];

/** Answers a message to a waiting task, for every scenario. */
export async function continueConversation({ text, context, events }: ScenarioTurn): Promise<void> {
  if (text.toLowerCase().includes('done')) {
    await events.artifact(`[multi-turn] Final message: ${text}`, { artifactId: 'final', name: 'final' });
    await events.complete('[multi-turn] The conversation is complete.');
    return;
  }
  const id = `turn-${(context.task?.artifacts?.length ?? 0) + 1}`;
  await events.artifact(`[multi-turn] Received message: ${text}`, { artifactId: id, name: id });
  await events.inputRequired('[multi-turn] What else? Send another message, or one that says "done".');
}
