import { isObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { TaskStatus } from '../model/task.js';
import { isTerminal } from '../model/task-state.js';
import type { EventQueue, RawEvent, StatusContent } from '../server/event-queue.js';

/** A question without the ids of its message. */
export type OpenQuestionContent = Pick<Message, 'parts' | 'extensions'>;

/** Code that runs before a turn ends. */
export interface TurnGuard {
  /** Comes before a status that ends the task. */
  beforeEnd(): void;
  /** Comes before a question. Returns the further questions that it must ask. */
  beforeQuestion(): OpenQuestionContent | undefined;
}

/**
 * Guards the queue of a turn. Agents publish by the queue that they have got, so its own methods are replaced. The
 * queue belongs to this turn alone.
 */
export function guardEvents(events: EventQueue, guard: TurnGuard): void {
  for (const name of ['complete', 'fail', 'reject', 'cancel'] as const) {
    const end = events[name].bind(events);
    events[name] = (content, info) => {
      guard.beforeEnd();
      return end(content, info);
    };
  }
  const reply = events.message.bind(events);
  events.message = (content) => {
    guard.beforeEnd();
    return reply(content);
  };
  const ask = events.inputRequired.bind(events);
  events.inputRequired = (content, info) => ask(withQuestion(content, guard.beforeQuestion()), info);
  const publish = events.publish.bind(events);
  events.publish = (event) => publish(guarded(event, guard));
}

/** A raw event with the further questions. The engine refuses an event that cannot be read. */
function guarded(event: RawEvent, guard: TurnGuard): RawEvent {
  try {
    if ('message' in event) guard.beforeEnd();
    if ('statusUpdate' in event) {
      const { statusUpdate } = event;
      return { statusUpdate: { ...statusUpdate, status: guardedStatus(statusUpdate.status, guard) } };
    }
    if ('task' in event) return { task: { ...event.task, status: guardedStatus(event.task.status, guard) } };
  } catch {
    // An object of an agent may throw when it is read.
  }
  return event;
}

function guardedStatus(status: TaskStatus, guard: TurnGuard): TaskStatus {
  if (isTerminal(status.state)) guard.beforeEnd();
  if (status.state !== 'TASK_STATE_INPUT_REQUIRED') return status;
  const message = withQuestion(status.message, guard.beforeQuestion());
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
  // Readers that join texts put nothing between them.
  const asked = before.length > 0 && 'text' in first ? { ...first, text: `\n\n${first.text}` } : first;
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
