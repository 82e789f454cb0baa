import type { AgentExtension } from '../model/agent-card.js';
import type { ArtifactEnd } from '../task/artifact-end.js';
import type { EventQueue } from './event-queue.js';
import type { RequestContext } from './request-context.js';

/** An agent. The engine runs it for each message. */
export interface AgentExecutor {
  /**
   * Runs one turn. The agent publishes through `events`, then returns. A throw, or a return before a final or
   * interrupted state, ends the task in FAILED. After `context.signal` aborts, the agent should return soon.
   */
  execute(context: RequestContext, events: EventQueue): Promise<void> | void;
  /**
   * Called once when a caller cancels the running turn, in addition to the aborted signal. May end the task in its own
   * way.
   */
  cancel?(context: RequestContext, events: EventQueue): Promise<void> | void;
  /**
   * `task` (default): a message is stored as a task before the agent runs. `either`: the first event of the agent
   * creates a task, or is a direct message; then nothing is stored.
   */
  readonly replies?: 'task' | 'either';
  /** True if a turn may run again after its process has died, at most 3 times. Otherwise its task becomes FAILED. */
  readonly resumable?: boolean;
  /** The update that ends an artifact of several chunks. Default `auto`. The server may choose another one. */
  readonly artifactEnd?: ArtifactEnd;
  /** Extensions that the agent uses. The card declares them, unless its options declare the same URI. */
  readonly extensions?: readonly AgentExtension[];
}
