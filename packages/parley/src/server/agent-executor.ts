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
   * `task` (the default): a message is stored as a task before the agent runs. `either`: the first event decides
   * between a task and a direct message, which is not stored.
   */
  readonly replies?: 'task' | 'either';
  /** True if a turn may run again after its process died, at most 3 times. Otherwise its task is FAILED. */
  readonly resumable?: boolean;
}
