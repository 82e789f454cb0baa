import type { Clock } from '../runtime/clock.js';
import { ignoreRejection } from '../runtime/settled.js';
import type { AgentSchemas, AnsweringSchemas, Checked } from './agent-schemas.js';
import type { CompiledSchema, DataFault } from './compiled-schema.js';

/** Answers of async schemas, collected in a first check and used in a second one. */
export class SchemaAnswers {
  readonly #known = new Map<CompiledSchema, Map<unknown, readonly DataFault[]>>();
  readonly #pending: Promise<void>[] = [];

  /** The faults of a value. Empty until an async schema has answered. */
  faults(schema: CompiledSchema, value: unknown): readonly DataFault[] {
    const known = this.#known.get(schema)?.get(value);
    if (known !== undefined) return known;
    const faults = schema.faults(value);
    if (!(faults instanceof Promise)) return faults;
    const answered = faults.then((found) => {
      const own = this.#known.get(schema) ?? new Map<unknown, readonly DataFault[]>();
      this.#known.set(schema, own.set(value, found));
    });
    this.#pending.push(ignoreRejection(answered));
    return [];
  }

  /** Undefined if all schemas have answered. */
  settled(): Promise<unknown> | undefined {
    const pending = this.#pending.splice(0);
    return pending.length === 0 ? undefined : Promise.all(pending);
  }
}

/** The schemas of a check, and the bounds on async ones. */
export interface SchemaCheckOptions {
  readonly schemas: AgentSchemas;
  readonly clock: Clock;
  /** The time limit for async schemas, in ms. */
  readonly timeoutMs: number;
}

/**
 * Checks a value. The result is a promise only if a schema is async.
 * @throws Error if a schema throws. Rejects after `timeoutMs`.
 */
export function checkedBy<Value>(
  { schemas, clock, timeoutMs }: SchemaCheckOptions,
  check: (schemas: AnsweringSchemas) => Checked<Value>,
): Checked<Value> | Promise<Checked<Value>> {
  const answers = new SchemaAnswers();
  const answering = { ...schemas, answers };
  const first = check(answering);
  const settled = answers.settled();
  if (settled === undefined) return first;
  const late = Promise.withResolvers<never>();
  const stopTimer = clock.after(timeoutMs, () => {
    late.reject(new Error(`A schema gave no answer within ${timeoutMs} ms`));
  });
  return Promise.race([settled, late.promise])
    .finally(stopTimer)
    .then(() => {
      const second = check(answering);
      // A value must not pass without an answer.
      if (answers.settled() !== undefined) throw new Error('A schema asked for another value in its second check');
      return second;
    });
}
