import type { StreamResponse } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import type { TaskState } from '../../model/task-state.js';
import { statusTime } from '../../task/status-time.js';
import type { TurnPorts } from '../turn-ports.js';
import { announcedState } from './agent-event.js';
import type { EngineContext } from './engine-context.js';
import type { AgentEventInput } from './turn-state.js';

/** The times of one turn, from the call of its agent. */
export class TurnTimes {
  readonly #context: EngineContext;
  readonly #meter: NonNullable<TurnPorts['meter']>;
  readonly #begunAt: number;
  #hasAnswered = false;
  #lastState: TaskState = 'TASK_STATE_WORKING';

  /** Called just before the agent. `task` is absent for a draft. */
  constructor(context: EngineContext, meter: NonNullable<TurnPorts['meter']>, task: Task | undefined) {
    const { clock, agent } = context;
    this.#context = context;
    this.#meter = meter;
    this.#begunAt = clock.monotonic();
    // Only the status of a new task has the time of its message.
    if (task?.status.state !== 'TASK_STATE_SUBMITTED') return;
    meter({ agent, time: 'queueWait', ms: Math.max(0, clock.now() - statusTime(task.status)) });
  }

  /** Called when the agent has published an event. */
  met(event: StreamResponse, input: AgentEventInput): void {
    const state = event.message !== undefined ? 'TASK_STATE_COMPLETED' : announcedState(event);
    if (state !== undefined) this.#lastState = state;
    if (this.#hasAnswered || input === 'working' || input === 'announced') return;
    this.#hasAnswered = true;
    const { agent, clock } = this.#context;
    this.#meter({ agent, time: 'firstEvent', ms: clock.monotonic() - this.#begunAt });
  }

  /** Called when the engine has set a state. */
  reached(state: TaskState): void {
    this.#lastState = state;
  }

  ended(isGivenUp: boolean): void {
    const outcome = isGivenUp ? 'lost' : this.#lastState.slice('TASK_STATE_'.length).toLowerCase();
    const { agent, clock } = this.#context;
    this.#meter({ agent, time: 'taskDuration', ms: clock.monotonic() - this.#begunAt, outcome });
  }
}
