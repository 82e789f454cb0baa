import type { Message } from '../model/message.js';
import type { RequestContext } from './request-context.js';

/** The message of AUTH_REQUIRED. The engine adds its role and the ids of its task. */
export type Question = Omit<Message, 'role' | 'taskId' | 'contextId'>;

/** Changes a question for an authorization, and calls `publish` with the result. The question keeps its id. */
export type QuestionChange = (question: Question, publish: (changed: Question) => Promise<void>) => Promise<void>;

const CHANGES = new WeakMap<RequestContext, QuestionChange>();

/** Sets the change of the questions that the engine asks for the agent of a turn. */
export function changeQuestions(context: RequestContext, change: QuestionChange): void {
  CHANGES.set(context, change);
}

/** Returns the change that a turn has set; `undefined` if its questions are not changed. */
export function questionChangeOf(context: RequestContext): QuestionChange | undefined {
  return CHANGES.get(context);
}
