import { FLAG_NAMES, type FlagName, flagOf, variableOf } from '../command-line/flags.js';
import type { GivenFlag } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';

/** Values from one place, under the names of their variables. */
export interface SettingsLayer {
  /** `environment`, or the path of a file. */
  readonly source: string;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/** What a setting is, and who says so. */
export interface Setting {
  readonly values: readonly string[];
  /** `flag`, `environment`, the path of a file, or `built-in`. */
  readonly source: string;
}

/** What holds for this run: flag before environment before local file before global file before what is built in. */
export class Settings {
  readonly #given: readonly GivenFlag[];
  readonly #layers: readonly SettingsLayer[];

  /** The layers stand in the order of their precedence. */
  constructor(given: readonly GivenFlag[], layers: readonly SettingsLayer[]) {
    this.#given = given;
    this.#layers = layers;
  }

  /** Where a setting comes from; `undefined` where nobody has set it. */
  setting(name: FlagName): Setting | undefined {
    const given = this.#given.filter((flag) => flag.name === name);
    if (given.length > 0) return { values: given.map(({ value }) => String(value)), source: 'flag' };
    const { configurable, repeats, builtIn } = flagOf(name);
    for (const { source, values } of configurable === true ? this.#layers : []) {
      const value = values[variableOf(name)]?.trim();
      if (value === undefined || value === '') continue;
      return { values: repeats === true ? listOf(value) : [value], source };
    }
    return builtIn === undefined ? undefined : { values: [builtIn], source: 'built-in' };
  }

  /** The value of a flag. */
  text(name: FlagName): string | undefined {
    const value = this.setting(name)?.values.at(-1);
    const { choices } = flagOf(name);
    if (value !== undefined && choices !== undefined && !choices.includes(value))
      throw usageError(`${variableOf(name)} is ${choices.slice(0, 2).join(' or ')}, not "${value}"`);
    return value;
  }

  /** The values of a flag that repeats. */
  list(name: FlagName): readonly string[] {
    return this.setting(name)?.values ?? [];
  }

  /** Whether a flag without value is on. */
  isOn(name: FlagName): boolean {
    const value = this.text(name);
    if (value === undefined || value === 'false' || value === '0') return false;
    if (value === 'true' || value === '1') return true;
    throw usageError(`${variableOf(name)} is true or false, not "${value}"`);
  }

  /**
   * Which of two flags that exclude each other holds: the one set with more authority.
   * @throws CliError where the same place sets both.
   */
  either<A extends FlagName, B extends FlagName>(one: A, other: B): A | B | undefined {
    const [on, otherOn] = [this.isOn(one), this.isOn(other)];
    if (!on || !otherOn) return on ? one : otherOn ? other : undefined;
    const [rank, otherRank] = [this.#rank(one), this.#rank(other)];
    if (rank === otherRank) throw usageError(`--${one} and --${other} exclude each other`);
    return rank < otherRank ? one : other;
  }

  /** A number that is not negative. */
  count(name: FlagName): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,9}$/.test(text)) throw usageError(`--${name} is a whole number, not "${text}"`);
    return Number(text);
  }

  /** A time, in ms. */
  duration(name: FlagName): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const ms = durationOf(text);
    if (ms === undefined) throw usageError(`--${name} is a time such as 500ms, 2s, 5m or 1h, not "${text}"`);
    return ms;
  }

  /** A JSON object. */
  object(name: FlagName): Record<string, unknown> | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = parsed(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw usageError(`--${name} is a JSON object such as {"key":"value"}`);
  }

  /** Every setting that could be made, in the order of the table. */
  all(): readonly { readonly name: FlagName; readonly setting: Setting | undefined }[] {
    const names = FLAG_NAMES.filter((name) => flagOf(name).configurable === true);
    return names.map((name) => ({ name, setting: this.setting(name) }));
  }

  #rank(name: FlagName): number {
    const source = this.setting(name)?.source;
    return source === 'flag' ? -1 : this.#layers.findIndex((layer) => layer.source === source);
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The ms of a time such as `2s` or `1m30s`; a bare number is of seconds. `undefined` where it is none. */
export function durationOf(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  const pieces = Array.from(text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g));
  return pieces.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNITS[unit] ?? 0), 0);
}

function listOf(value: string): string[] {
  return value
    .split(',')
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
