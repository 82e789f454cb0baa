import { InvalidParamsError } from '../../errors/standard-errors.js';
import { TASK_STATES, type TaskState } from '../../model/task-state.js';

/** The parameters of a request. Each name comes at most once, unless it may be repeated. */
export class OperatorQuery {
  readonly #parameters: URLSearchParams;

  /** @throws InvalidParamsError for an unknown name, and for one that came twice. */
  constructor(query: string, names: readonly string[]) {
    this.#parameters = new URLSearchParams(query);
    const given = [...this.#parameters.keys()];
    for (const [at, name] of given.entries()) {
      if (!names.includes(name)) throw invalid(name.slice(0, 100), `is unknown: use ${names.join(', ')}`);
      if (name !== 'state' && given.indexOf(name) !== at) throw invalid(name, 'is given twice');
    }
  }

  text(name: string): string | undefined {
    return this.#parameters.get(name) ?? undefined;
  }

  /** @throws InvalidParamsError if it is missing. */
  required(name: string): string {
    return this.text(name) ?? fail(name, 'is missing');
  }

  /** @throws InvalidParamsError for anything but a whole number up to a maximum. */
  number(name: string, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value <= most ? value : fail(name, `must be a whole number of at most ${most}`);
  }

  /** The states to find. Empty: all. */
  states(): readonly TaskState[] {
    return this.#parameters
      .getAll('state')
      .map(
        (text) => TASK_STATES.find((state) => state === text) ?? fail('state', 'must be such as TASK_STATE_WORKING'),
      );
  }
}

function fail(field: string, description: string): never {
  throw invalid(field, description);
}

/** The error for a wrong parameter. */
export function invalid(field: string, description: string): InvalidParamsError {
  return new InvalidParamsError([{ field, description }]);
}
