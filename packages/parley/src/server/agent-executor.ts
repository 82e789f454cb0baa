import type { EventQueue } from './event-queue.js';
import type { RequestContext } from './request-context.js';

/** An agent: what runs when a message arrives. */
export interface AgentExecutor {
  /**
   * One turn. Publish through `events`, then return; a return before a final or interrupted state, or a throw, ends the
   * task in FAILED. After `context.signal` aborts nothing more is expected but a quick return.
   */
  execute(context: RequestContext, events: EventQueue): Promise<void> | void;
  /** Called once, beside the aborted signal, when the running turn is asked to cancel. May end the task its own way. */
  cancel?(context: RequestContext, events: EventQueue): Promise<void> | void;
  /**
   * `task` (the default): a message is stored as a task before the agent runs. `either`: the first event decides between a
   * direct message, of which nothing is stored, and a task.
   */
  readonly replies?: 'task' | 'either';
  /** Whether a turn whose process died may be run again (at most 3 attempts); otherwise its task ends in FAILED. */
  readonly resumable?: boolean;
}
