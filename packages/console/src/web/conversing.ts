import { signal } from '@preact/signals';
import type { Part, RawPart, StreamResponse } from 'parley-a2a';
import type { TaskStream } from 'parley-a2a/client';
import { type Agent, failureOf, onConnection } from './agents.js';
import { type Conversation, changeReply, conversationOf, putConversation, type Turn } from './conversation-store.js';
import { eachFrame } from './frames.js';
import { afterEvent, isEnded, isWaiting, type TaskView, viewOf } from './task-view.js';

/** Open streams, by the message that they answer. */
const streams = new Map<string, TaskStream>();

/** Texts about lost connections, by the message of the stream. */
export const interruptions = signal<ReadonlyMap<string, string>>(new Map());

/** A new conversation with an agent. It is stored with its first message. */
export function newConversation(agent: Agent): Conversation {
  const isPrivate = agent.credential !== undefined;
  return { id: crypto.randomUUID(), agent: agent.path, isPrivate, turns: [], changedAt: Date.now() };
}

/** The task of a conversation that waits for an answer of its user. */
export function waitingTask({ turns }: Conversation): TaskView | undefined {
  const view = turns.at(-1)?.reply.view;
  return view !== undefined && isWaiting(view.state) ? view : undefined;
}

/** A message of the user: its text, files and data. */
export interface Said {
  readonly text: string;
  /** Files go with the text. */
  readonly files?: readonly RawPart[];
  /** Data are sent instead of the text, which describes them to the user. */
  readonly data?: readonly Part[];
}

/** Sends a message of the user, to the waiting task if there is one. */
export async function say(agent: Agent, conversation: Conversation, said: Said): Promise<void> {
  const { text, files = [], data } = said;
  const waiting = waitingTask(conversation);
  const messageId = crypto.randomUUID();
  const parts = data ?? [...(text === '' ? [] : [{ text }]), ...files];
  const turn: Turn = {
    messageId,
    text,
    ...(files.length > 0 && { files: files.map(({ filename = 'file' }) => filename) }),
    ...(parts.some((part) => part.text === undefined) && { hasData: true }),
    at: Date.now(),
    reply: { phase: 'running', events: 0, breaks: 0 },
  };
  putConversation({ ...conversation, turns: [...conversation.turns, turn], changedAt: Date.now() });
  const place = { agent, conversation: conversation.id, messageId };
  await follow(place, async () => {
    const client = await agent.client();
    return client.sendStreamingMessage({
      message: {
        messageId,
        parts,
        ...(conversation.contextId !== undefined && { contextId: conversation.contextId }),
        ...(waiting !== undefined && { taskId: waiting.id }),
      },
    });
  });
}

/** Sends the text of a turn again, as a new message. */
export function sayAgain(agent: Agent, conversation: Conversation, turn: Turn): Promise<void> {
  return say(agent, conversation, { text: turn.text });
}

/** Resumes the tasks of a conversation that were running when the page was left. */
export function resumeConversation(agent: Agent, conversation: Conversation): void {
  for (const { messageId, reply } of conversation.turns) {
    const { view, lastEventId } = reply;
    if (reply.phase !== 'running' && reply.isTrimmed === true && view !== undefined) {
      void readTask(agent, view.id).then((read) =>
        changeReply(conversation.id, messageId, { ...read, isTrimmed: false }),
      );
    }
    if (reply.phase !== 'running' || streams.has(messageId)) continue;
    const place = { agent, conversation: conversation.id, messageId };
    if (view === undefined) {
      const failure = 'The page was left before the agent had named a task. Send the message again.';
      changeReply(conversation.id, messageId, { phase: 'failed', failure });
    } else {
      void follow(place, async () => {
        const client = await agent.client();
        return client.subscribeToTask(view.id, lastEventId === undefined ? {} : { lastEventId });
      });
    }
  }
}

/** Cancels the task of a turn. A turn without a task ends only in the page. */
export async function stop(agent: Agent, conversation: Conversation, { messageId, reply }: Turn): Promise<void> {
  const { view } = reply;
  try {
    if (view === undefined) await streams.get(messageId)?.return();
    else {
      const task = await (await agent.client()).cancelTask(view.id);
      // The stream may have ended before the cancellation.
      if (!streams.has(messageId)) changeReply(conversation.id, messageId, { phase: 'done', view: viewOf(task) });
    }
  } catch (error) {
    tell(messageId, `The agent did not stop: ${failureOf(agent, error)}`);
  }
}

interface TurnPlace {
  readonly agent: Agent;
  readonly conversation: string;
  readonly messageId: string;
}

/** Reads a stream to its end, and renders once per frame. */
async function follow({ agent, conversation, messageId }: TurnPlace, open: () => Promise<TaskStream>): Promise<void> {
  const before = conversationOf(conversation)?.turns.find((turn) => turn.messageId === messageId)?.reply;
  let view = before?.view;
  let { events = 0 } = before ?? {};
  let message = before?.message;
  const { breaks = 0 } = before ?? {};
  let stream: TaskStream | undefined;
  const show = eachFrame(() => {
    const lastEventId = stream?.lastEventId ?? before?.lastEventId;
    changeReply(conversation, messageId, {
      view,
      message,
      events,
      lastEventId,
      breaks: breaks + (stream?.breaks ?? 0),
    });
  });
  const forget = onConnection((event) => {
    const taskId = view?.id;
    if (event.taskId !== undefined && event.taskId !== taskId) return;
    if (event.state === 'restored') tell(messageId, undefined);
    else {
      const seconds = (event.waitMs / 1000).toFixed(1);
      tell(messageId, `Connection lost. Attempt ${event.attempt} of ${event.attempts} follows in ${seconds} s.`);
    }
  });
  try {
    stream = await open();
    streams.set(messageId, stream);
    for await (const event of stream as AsyncIterable<StreamResponse>) {
      events += 1;
      view = afterEvent(view, event);
      if (event.message !== undefined) ({ message } = event);
      show.soon();
    }
    show.now();
    const ended = view === undefined ? message !== undefined : isEnded(view.state) || isWaiting(view.state);
    const failure = ended ? undefined : 'The stream ended before the task did.';
    changeReply(conversation, messageId, { phase: ended ? 'done' : 'failed', failure });
  } catch (error) {
    show.now();
    const failure = failureOf(agent, error);
    const isOver = (error as { code?: unknown }).code === 'UNSUPPORTED_OPERATION' && view !== undefined;
    // A task that has ended meanwhile has no stream, so its record is the answer.
    const task = isOver && view !== undefined ? await readTask(agent, view.id) : undefined;
    changeReply(conversation, messageId, task ?? { phase: 'failed', failure });
  } finally {
    forget();
    streams.delete(messageId);
    tell(messageId, undefined);
  }
}

async function readTask(agent: Agent, id: string) {
  try {
    const task = await (await agent.client()).getTask(id);
    return { phase: 'done' as const, view: viewOf(task), failure: undefined };
  } catch (error) {
    return { phase: 'failed' as const, failure: failureOf(agent, error) };
  }
}

function tell(messageId: string, sentence: string | undefined): void {
  const all = new Map(interruptions.value);
  if (sentence === undefined) all.delete(messageId);
  else all.set(messageId, sentence);
  interruptions.value = all;
}
