import type { StreamResponse } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import type { TaskState } from '../../model/task-state.js';
import { statusTime } from '../../task/status-time.js';
import type { TurnMeter } from '../turn-ports.js';
import { announcedState } from './agent-event.js';
import type { EngineContext } from './engine-context.js';
import type { AgentEventInput } from './turn-state.js';

/** The times of one turn, from the call of its agent on. */
export class TurnTimes {
  readonly #context: EngineContext;
  readonly #meter: TurnMeter;
  readonly #begunAt: number;
  #hasAnswered = false;
  #lastState: TaskState = 'TASK_STATE_WORKING';

  /** The agent is about to be called. `task` is absent for a draft. */
  constructor(context: EngineContext, meter: TurnMeter, task: Task | undefined) {
    const { clock, agent } = context;
    this.#context = context;
    this.#meter = meter;
    this.#begunAt = clock.monotonic();
    // Only the status of a new task has the time of its message.
    const isNew = task?.status.state === 'TASK_STATE_SUBMITTED';
    meter.began(agent, isNew ? Math.max(0, clock.now() - statusTime(task.status)) : undefined);
  }

  /** The agent has published an event. */
  met(event: StreamResponse, input: AgentEventInput): void {
    const state = event.message !== undefined ? 'TASK_STATE_COMPLETED' : announcedState(event);
    if (state !== undefined) this.#lastState = state;
    if (this.#hasAnswered || input === 'working' || input === 'announced') return;
    this.#hasAnswered = true;
    this.#meter.answered(this.#context.agent, this.#elapsedMs);
  }

  /** The engine has set a state. */
  reached(state: TaskState): void {
    this.#lastState = state;
  }

  ended(isGivenUp: boolean): void {
    const outcome = isGivenUp ? 'lost' : this.#lastState.slice('TASK_STATE_'.length).toLowerCase();
    this.#meter.ended(this.#context.agent, { outcome, ms: this.#elapsedMs });
  }

  get #elapsedMs(): number {
    return this.#context.clock.monotonic() - this.#begunAt;
  }
}
