import { isObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { TaskStatus } from '../model/task.js';
import { isTerminal } from '../model/task-state.js';
import type { EventQueue, RawEvent, StatusContent } from '../server/event-queue.js';
import type { RequestContext } from '../server/request-context.js';
import { TurnAbortedError } from '../server/turn-aborted-error.js';

/** A question without the ids of its message. */
export type OpenQuestionContent = Pick<Message, 'parts' | 'extensions'>;

/** The turn of an agent that makes calls. */
interface GuardedTurn {
  readonly context: Pick<RequestContext, 'signal'>;
  readonly events: EventQueue;
}

/** The calls of a turn that have not ended. */
export interface OpenCalls {
  /** Ends the calls. Called before a status that ends the task, and at once if a caller cancels it. */
  close(): void;
  /** Called before a question of the turn. Returns the further questions that it must ask. */
  question(): OpenQuestionContent | undefined;
}

/**
 * Guards a turn, so that its end leaves no call open. Agents publish by the queue object that they hold, so its own
 * methods are replaced. The queue belongs to this turn only.
 */
export function guardTurn({ context, events }: GuardedTurn, calls: OpenCalls): void {
  for (const name of ['complete', 'fail', 'reject', 'cancel'] as const) {
    const end = events[name].bind(events);
    events[name] = (content, info) => {
      calls.close();
      return end(content, info);
    };
  }
  const reply = events.message.bind(events);
  events.message = (content) => {
    calls.close();
    return reply(content);
  };
  const ask = events.inputRequired.bind(events);
  events.inputRequired = (content, info) => ask(withQuestion(content, calls.question()), info);
  const publish = events.publish.bind(events);
  events.publish = (event) => publish(guardEvent(event, calls));
  const { signal } = context;
  // After any other abort, another attempt may resume the calls.
  const closeIfCanceled = () => {
    if (signal.reason instanceof TurnAbortedError && signal.reason.reason === 'canceled') calls.close();
  };
  if (signal.aborted) closeIfCanceled();
  else signal.addEventListener('abort', closeIfCanceled, { once: true });
}

/** A raw event with the further questions. The engine refuses an event that cannot be read. */
function guardEvent(event: RawEvent, calls: OpenCalls): RawEvent {
  try {
    if ('message' in event) calls.close();
    if ('statusUpdate' in event) {
      const { statusUpdate } = event;
      return { statusUpdate: { ...statusUpdate, status: guardedStatus(statusUpdate.status, calls) } };
    }
    if ('task' in event) return { task: { ...event.task, status: guardedStatus(event.task.status, calls) } };
  } catch {
    // Reading an object of an agent may throw.
  }
  return event;
}

function guardedStatus(status: TaskStatus, calls: OpenCalls): TaskStatus {
  if (isTerminal(status.state)) calls.close();
  if (status.state !== 'TASK_STATE_INPUT_REQUIRED') return status;
  const message = withQuestion(status.message, calls.question());
  return message === undefined ? status : { ...status, message: message as Message };
}

function withQuestion<Content extends StatusContent | undefined>(
  content: Content,
  question: OpenQuestionContent | undefined,
): Content | Partial<Message> {
  if (question === undefined) return content;
  const own = messageOf(content);
  if (own === undefined) return content;
  const { parts: before = [], extensions = [] } = own;
  const [first, ...more] = question.parts;
  if (first === undefined) return content;
  // Clients join texts without a separator, so an empty line is added.
  const asked = before.length > 0 && first.text !== undefined ? { ...first, text: `\n\n${first.text}` } : first;
  return {
    ...own,
    parts: [...before, asked, ...more],
    extensions: [...new Set([...extensions, ...(question.extensions ?? [])])],
  };
}

/** The message of a status; undefined if the engine will refuse it. */
function messageOf(content: StatusContent | undefined): Partial<Message> | undefined {
  if (content === undefined) return {};
  if (typeof content === 'string') return { parts: [{ text: content }] };
  if (Array.isArray(content)) return { parts: content };
  const { parts = [], extensions = [] } = isObject(content) ? (content as Partial<Message>) : { parts: 0 };
  return Array.isArray(parts) && Array.isArray(extensions) ? (content as Partial<Message>) : undefined;
}
