import type { StreamResponse } from '../../model/stream-response.js';
import type { TaskState } from '../../model/task-state.js';
import type { Claim } from '../../store/held-turn.js';
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

  /** Called just before the agent. `claim` is absent for a draft, which does not wait. */
  constructor(context: EngineContext, meter: NonNullable<TurnPorts['meter']>, claim: Claim | undefined) {
    const { clock, agent } = context;
    this.#context = context;
    this.#meter = meter;
    this.#begunAt = clock.monotonic();
    const acceptedAt = claim?.caller.acceptedAt;
    if (claim === undefined || acceptedAt === undefined) return;
    const attempt = claim.attempt === 1 ? 'first' : 'again';
    // Another process, with another clock, may have accepted the message.
    meter({ agent, time: 'queueWait', ms: Math.max(0, clock.now() - acceptedAt), attempt });
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
