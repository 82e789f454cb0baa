import { randomUUID } from 'node:crypto';
import type { Client } from '../../../packages/parley/src/client/client.js';
import { FILES_EXTENSION } from '../../../packages/parley/src/exports/files.js';
import {
  answerApprovals,
  answerQuestion,
  toolApprovals,
  toolCalls,
  toolEventsOf,
  toolQuestions,
} from '../../../packages/parley/src/exports/tools.js';
import type { Part } from '../../../packages/parley/src/model/part.js';
import type { Task } from '../../../packages/parley/src/model/task.js';
import { INLINE_BYTES, KIT_PATH } from './kit-agent.js';
import { eventsOf, refusal } from './outcome.js';
import type { MatrixScenario } from './scenarios.js';
import { AS_URL, CALLED } from './special-scenarios.js';
import type { Cell } from './world.js';

type Sent = Parameters<Client['sendMessage']>[0];

async function taskOf(client: Client, message: Sent): Promise<Task> {
  const answer = await client.sendMessage(message);
  if (answer.task !== undefined) return answer.task;
  throw new Error('The agent answered with a message');
}

const answerParams = (task: Task, text: string): Sent => ({ message: { taskId: task.id, parts: [{ text }] } });

/** Answers a question in each of these ways. Returns the tasks that follow. */
async function answerAll(cell: Cell, prompt: string, answers: readonly ((task: Task) => Sent)[]): Promise<unknown> {
  const client = await cell.client(KIT_PATH);
  const tasks: Task[] = [await taskOf(client, prompt)];
  for (const answer of answers) tasks.push(await taskOf(client, answer(tasks.at(-1) as Task)));
  return tasks.map((task) => ({
    task,
    approvals: toolApprovals(task),
    questions: toolQuestions(task),
    calls: toolCalls(task),
  }));
}

/** Describes a part by the size of its bytes, or by its url. */
function sizeOfPart(part: Part): unknown {
  const { filename, mediaType } = part;
  if (part.raw !== undefined) return { raw: Buffer.from(part.raw, 'base64').length, filename, mediaType };
  return part.url !== undefined ? { isUrl: part.url.includes('/kit/files/'), filename, mediaType } : part;
}

/** Sends a part that becomes a file. Returns the parts of the message and of the answer in the task. */
async function large(cell: Cell, extensions: readonly string[]): Promise<unknown> {
  const client = await cell.client(KIT_PATH, undefined, { extensions });
  const raw = Buffer.alloc(2 * INLINE_BYTES, 'x').toString('base64');
  const parts = [{ text: 'measure' }, { raw, filename: 'large.txt', mediaType: 'text/plain' }];
  const { id, status } = await taskOf(client, { message: { parts } });
  const { history = [], artifacts = [] } = await client.getTask(id);
  return {
    status,
    sent: history.flatMap((message) => message.parts.map(sizeOfPart)),
    got: artifacts.flatMap((artifact) => artifact.parts.map(sizeOfPart)),
    bytes: await Promise.all(
      artifacts
        .flatMap((artifact) => artifact.parts)
        .map(async (part) => part.url !== undefined && (await lengthAt(part.url))),
    ),
  };
}

const lengthAt = async (url: string) => (await (await fetch(url)).arrayBuffer()).byteLength;

/** An agent with tools, files, schemas, calls of other agents, and the conversation of its context. */
export const KIT_SCENARIOS: readonly MatrixScenario[] = [
  {
    name: 'the conversation of a context with two tasks',
    differs: true,
    async play(cell) {
      const client = await cell.client(KIT_PATH);
      const contextId = randomUUID();
      const tasks: Task[] = [];
      for (const text of ['remember me', 'remember us', 'remember all']) {
        tasks.push(await taskOf(client, { message: { contextId, parts: [{ text }] } }));
      }
      const other = await taskOf(client, { message: { contextId: randomUUID(), parts: [{ text: 'remember' }] } });
      return { tasks, other };
    },
  },
  {
    name: 'a call of a tool, approved by data',
    differs: true,
    play: (cell) => answerAll(cell, 'buy Dune', [(task) => ({ message: answerApprovals(task, 'approve') })]),
  },
  {
    name: 'a call of a tool, refused by data with a reason',
    differs: true,
    play: (cell) =>
      answerAll(cell, 'buy Dune', [
        (task) => ({ message: answerApprovals(task, [{ callId: '1.2', decision: 'refuse', reason: 'too dear' }]) }),
      ]),
  },
  {
    name: 'a call of a tool, approved by text',
    differs: true,
    play: (cell) => answerAll(cell, 'buy Dune', [(task) => answerParams(task, 'yes')]),
  },
  {
    name: 'a call of a tool, refused by text',
    differs: true,
    play: (cell) => answerAll(cell, 'buy Dune', [(task) => answerParams(task, 'no')]),
  },
  {
    name: 'a form of a tool, answered by data',
    differs: true,
    play: (cell) =>
      answerAll(cell, 'stay Oslo', [
        (task) => ({ message: answerQuestion(task, { action: 'accept', content: { nights: 3 } }) }),
      ]),
  },
  {
    name: 'a form of a tool, answered by a text that does not fit, and by one that does',
    differs: true,
    play: (cell) =>
      answerAll(cell, 'stay Oslo', [(task) => answerParams(task, 'many'), (task) => answerParams(task, '4')]),
  },
  {
    name: 'a form of a tool, declined',
    differs: true,
    play: (cell) =>
      answerAll(cell, 'stay Oslo', [(task) => ({ message: answerQuestion(task, { action: 'decline' }) })]),
  },
  {
    name: 'a question of the agent that asks for an approval, too',
    differs: true,
    play: (cell) => answerAll(cell, 'wonder Dune', [(task) => ({ message: answerApprovals(task, 'approve') })]),
  },
  {
    name: 'calls of tools whose task is canceled',
    differs: true,
    async play(cell) {
      const client = await cell.client(KIT_PATH);
      const canceled = [await client.cancelTask((await taskOf(client, 'buy Dune')).id)];
      for await (const event of client.sendStreamingMessage('hold on')) {
        const [told] = toolEventsOf(event);
        if (told?.call.state === 'running') canceled.push(await client.cancelTask(told.taskId ?? ''));
      }
      return canceled.map((task) => {
        const calls = toolCalls(task);
        if (calls.at(-1)?.state !== 'canceled') throw new Error('A call has not ended');
        return { task, approvals: toolApprovals(task), calls };
      });
    },
  },
  {
    name: 'the stream of a call of a tool',
    differs: true,
    async play(cell) {
      const client = await cell.client(KIT_PATH);
      return eventsOf(client.sendStreamingMessage('count sheep'));
    },
  },
  {
    name: 'a large part, for a client that takes bytes',
    play: (cell) => large(cell, []),
  },
  {
    name: AS_URL,
    play: (cell) => large(cell, [FILES_EXTENSION]),
  },
  {
    name: 'data that do not fit the schema of the agent',
    async play(cell) {
      const client = await cell.client(KIT_PATH);
      const cityParams = (city: unknown) => ({
        message: { parts: [{ text: 'nothing' }, { data: { city } as never }] },
      });
      return {
        refused: await refusal(client.sendMessage(cityParams(7))),
        streamed: await refusal(eventsOf(client.sendStreamingMessage(cityParams('x'.repeat(101))))),
        taken: (await taskOf(client, cityParams('Oslo'))).status,
      };
    },
  },
  {
    name: CALLED,
    differs: true,
    async play(cell) {
      const client = await cell.client(KIT_PATH);
      const stream = client.sendStreamingMessage(`call ${cell.url('/spec')}`);
      return { events: await eventsOf(stream), task: await client.getTask(stream.taskId ?? '') };
    },
  },
];
