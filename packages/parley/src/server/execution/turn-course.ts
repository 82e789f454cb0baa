import type { JsonObject } from '../../model/json.js';
import type { RunningTimer } from '../../runtime/equal-timers.js';
import type { TurnCourse } from '../turn-ports.js';
import { statusEvent } from './agent-event.js';
import type { EngineContext } from './engine-context.js';
import type { Turn } from './turn.js';
import { isGivenUp, type TurnState } from './turn-state.js';

/** A turn, and the parts of it that change. */
export interface TurnCourseParts {
  readonly turn: Turn;
  readonly context: EngineContext;
  readonly state: () => TurnState;
  /** The timer of the deadline. Absent while the task waits for its caller. */
  readonly deadline: () => RunningTimer | undefined;
}

/** The course of a turn, for the services of its server. */
export function turnCourse({ turn, context, state, deadline }: TurnCourseParts): TurnCourse {
  const { executor, deadlines, limits } = context;
  const isResumable = executor.resumable === true;
  return {
    get remainingMs() {
      const timer = deadline();
      return timer === undefined ? limits.turnDeadlineMs : deadlines.remainingMs(timer);
    },
    get goesOnElsewhere() {
      return isResumable && isGivenUp(state());
    },
    async note(metadata: JsonObject) {
      // A turn that is not stored yet, or that never runs again, has no use for it.
      if (turn.held === undefined || !isResumable) return;
      await turn.accept(statusEvent(turn, 'TASK_STATE_WORKING', undefined, metadata), true);
      await turn.flush();
    },
  };
}
