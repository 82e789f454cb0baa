import { InvalidParamsError } from '../../errors/standard-errors.js';

/** The parameters of a request that an endpoint knows. */
export class NamedParameters {
  readonly #parameters: URLSearchParams;

  /**
   * `repeatable`: the names that may come more than once.
   * @throws InvalidParamsError for an unknown name, and for another one that came twice.
   */
  constructor(query: string, names: readonly string[], repeatable: readonly string[] = []) {
    this.#parameters = new URLSearchParams(query);
    const given = [...this.#parameters.keys()];
    for (const [at, name] of given.entries()) {
      if (!names.includes(name)) {
        const remedy = names.length > 0 ? `use ${names.join(', ')}` : 'there are none here';
        throw wrongParameter(name.slice(0, 100), `is unknown: ${remedy}`);
      }
      if (!repeatable.includes(name) && given.indexOf(name) !== at) throw wrongParameter(name, 'is given twice');
    }
  }

  text(name: string): string | undefined {
    return this.#parameters.get(name) ?? undefined;
  }

  /** All values of a name. */
  texts(name: string): readonly string[] {
    return this.#parameters.getAll(name);
  }

  /** @throws InvalidParamsError if it is missing. */
  required(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw wrongParameter(name, 'is missing');
    return text;
  }

  /** @throws InvalidParamsError for anything but a whole number up to a maximum. */
  number(name: string, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,16}$/.test(text) || Number(text) > most)
      throw wrongParameter(name, `must be a whole number of at most ${most}`);
    return Number(text);
  }
}

/** The error for a wrong parameter. */
export function wrongParameter(field: string, description: string): InvalidParamsError {
  return new InvalidParamsError([{ field, description }]);
}
