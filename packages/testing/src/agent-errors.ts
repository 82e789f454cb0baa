import type { Logger } from 'parley-a2a';
import { beginAtCaller } from 'parley-a2a/kit';
import type { ProtocolAssertionError } from './protocol-assertion-error.js';

/** The errors of agents, keyed by the objects that a test gets from their turns. */
const ERRORS = new WeakMap<object, () => unknown>();

/** Stores the error of the turn from which the objects come: a list of events, an event, or a task. */
export function noteError(objects: readonly object[], error: () => unknown): void {
  for (const object of objects) ERRORS.set(object, error);
}

/** The error of the agent in the turn from which one of the objects comes. */
export function agentErrorIn(objects: readonly object[]): unknown {
  for (const object of objects) {
    const error = ERRORS.get(object)?.();
    if (error !== undefined) return error;
  }
  return undefined;
}

/** An assertion about the turn of an agent that threw: the error of the agent is its cause. */
export function withCause(assertion: ProtocolAssertionError, cause: unknown): ProtocolAssertionError {
  if (cause === undefined) return assertion;
  assertion.message += `. The agent failed with ${textOf(cause)}`;
  assertion.cause = cause;
  return beginAtCaller(assertion);
}

/** The text of an error and of its causes. The fault of an invalid event is the cause of its error. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = `${error.name}: ${error.message}`;
  return error.cause === undefined ? text : `${text} (${textOf(error.cause)})`;
}

/** The first error of each task that the engine logs: its agent threw, or published an invalid event. */
export class AgentErrors {
  readonly #errors = new Map<string, unknown>();

  /** Wraps the logger of an engine, and passes all lines on. */
  logger(logger: Logger): Logger {
    const noteErrors = (level: 'warn' | 'error'): Logger['error'] => {
      return (message, fields = {}) => {
        const { taskId, error } = fields;
        if (typeof taskId === 'string' && error !== undefined && !this.#errors.has(taskId))
          this.#errors.set(taskId, error);
        logger[level](message, fields);
      };
    };
    return {
      debug: (message, fields) => logger.debug(message, fields),
      info: (message, fields) => logger.info(message, fields),
      warn: noteErrors('warn'),
      error: noteErrors('error'),
    };
  }

  /** The error of the agent in a task. */
  of(taskId: string | undefined): unknown {
    return taskId === undefined ? undefined : this.#errors.get(taskId);
  }
}
