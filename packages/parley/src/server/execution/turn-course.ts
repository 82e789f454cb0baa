import { failureLevel } from '../../errors/storage-error.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import type { RunningTimer } from '../../runtime/equal-timers.js';
import type { TurnCourse } from '../turn-ports.js';
import { statusEvent } from './agent-event.js';
import type { EngineContext } from './engine-context.js';
import type { Turn } from './turn.js';
import type { TurnCheckpoint } from './turn-checkpoint.js';
import { isGivenUp, type TurnState } from './turn-state.js';

/** A turn, and its parts that change. */
export interface TurnCourseOptions {
  readonly turn: Turn;
  readonly context: EngineContext;
  readonly checkpoint: TurnCheckpoint;
  readonly state: () => TurnState;
  /** Returns the timer of the deadline. Absent while the task waits for its caller. */
  readonly deadline: () => RunningTimer | undefined;
}

/** Returns the current progress of a turn, for turn ports. */
export function turnCourse({ turn, context, checkpoint, state, deadline }: TurnCourseOptions): TurnCourse {
  const { executor, deadlines, limits, logger } = context;
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
      // Without a stored turn that can be resumed, the value would never be read.
      if (turn.held === undefined || !isResumable) return;
      await turn.accept(statusEvent(turn, 'TASK_STATE_WORKING', undefined, metadata), true);
      await turn.flush();
    },
    kept: (name) => checkpoint.kept.get(name),
    async keep(name: string, value: JsonValue) {
      const { kept } = checkpoint;
      kept.delete(name);
      kept.set(name, value);
      for (const oldest of kept.keys()) {
        if (JSON.stringify([...kept]).length <= limits.taskBytes) break;
        kept.delete(oldest);
      }
      if (turn.held === undefined || !isResumable) return;
      await checkpoint.store().catch((error: unknown) => {
        logger[failureLevel(error)]('a value for a later attempt was not kept', { taskId: turn.taskId, error });
      });
    },
    drop: (name) => checkpoint.kept.delete(name),
  };
}
