import { type FlagName, flagOf, listOf, variableOf } from '../command-line/flags.js';
import type { GivenFlag } from '../command-line/invocation.js';
import { type CliError, usageError } from '../failure/cli-error.js';
import { shellWord } from '../task/shell-word.js';
import { CONFIGURABLE_FLAGS, CREDENTIAL_FLAGS, SETTING_ORIGINS } from './setting-origins.js';
import type { FileTrust } from './trusted-files.js';

/** Values from one source, by the names of their variables. */
export interface SettingsLayer {
  /** `environment`, or the path of a file. */
  readonly source: string;
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Set if the file was found in a parent folder and is not trusted. */
  readonly distrust?: Exclude<FileTrust, 'trusted'>;
}

/** A value with its source. */
export interface Setting {
  readonly values: readonly string[];
  /** `flag`, `environment`, the path of a file, or `built-in`. */
  readonly source: string;
  /** The reason why its layer is not trusted. */
  readonly distrust?: SettingsLayer['distrust'];
}

/**
 * The settings of this run. A flag wins over the environment, then the local file, the global file, and the default.
 */
export class Settings {
  readonly #given: readonly GivenFlag[];
  readonly #layers: readonly SettingsLayer[];

  /** The layers are in order of precedence. */
  constructor(given: readonly GivenFlag[], layers: readonly SettingsLayer[]) {
    this.#given = given;
    this.#layers = layers;
  }

  /**
   * Returns a setting with its source; `undefined` if it is not set. For display only: the other methods check trust.
   */
  findSetting(name: FlagName): Setting | undefined {
    const given = this.#given.filter((flag) => flag.name === name);
    if (given.length > 0) return { values: given.map(({ value }) => String(value)), source: 'flag' };
    const { repeats, builtIn, commonVariable } = flagOf(name);
    for (const { source, values, distrust } of SETTING_ORIGINS[name] === 'command line' ? [] : this.#layers) {
      const value = values[variableOf(name)]?.trim();
      if (value === undefined || value === '') continue;
      return {
        values: repeats === true ? listOf(value) : [value],
        source,
        ...(distrust !== undefined && { distrust }),
      };
    }
    const environment = this.#layers.find(({ source }) => source === 'environment');
    const common = commonVariable === undefined ? undefined : environment?.values[commonVariable]?.trim();
    if (common) return { values: repeats === true ? listOf(common) : [common], source: 'environment' };
    return builtIn === undefined ? undefined : { values: [builtIn], source: 'built-in' };
  }

  /**
   * Refuses settings from untrusted files that require trust. Called before a command starts.
   * @throws CliError A2ACLI_ERR_USAGE
   */
  checkTrust(names: readonly FlagName[]): void {
    for (const name of names) if (SETTING_ORIGINS[name] === 'trusted') this.#used(name);
  }

  /**
   * Refuses an untrusted file that sets the recipient of a credential from another source.
   * @param what the credential, such as `a login`.
   * @throws CliError A2ACLI_ERR_USAGE
   */
  checkRecipients(what: string): void {
    for (const name of CONFIGURABLE_FLAGS) {
      const setting = SETTING_ORIGINS[name] === 'recipient' ? this.findSetting(name) : undefined;
      if (setting?.distrust !== undefined) throw untrustedError(name, setting, `decides where ${what} goes`);
    }
  }

  /** Returns the value of a flag. */
  text(name: FlagName): string | undefined {
    const value = this.#used(name)?.values.at(-1);
    const { choices } = flagOf(name);
    if (value !== undefined && choices !== undefined && !choices.includes(value))
      throw usageError(`${variableOf(name)} is ${choices.slice(0, 2).join(' or ')}, not "${value}"`);
    return value;
  }

  /** Returns the values of a repeatable flag. */
  list(name: FlagName): readonly string[] {
    return this.#used(name)?.values ?? [];
  }

  /** Returns true if a flag without a value is on. */
  isOn(name: FlagName): boolean {
    const value = this.text(name);
    if (value === undefined || value === 'false' || value === '0') return false;
    if (value === 'true' || value === '1') return true;
    throw usageError(`${variableOf(name)} is true or false, not "${value}"`);
  }

  /**
   * Returns which of two exclusive flags has the source with precedence.
   * @throws CliError if the same source sets both.
   */
  either<A extends FlagName, B extends FlagName>(one: A, other: B): A | B | undefined {
    const [on, otherOn] = [this.isOn(one), this.isOn(other)];
    return on && otherOn ? this.#stronger(one, other) : on ? one : otherOn ? other : undefined;
  }

  /**
   * Returns which of two exclusive values has the source with precedence.
   * @throws CliError if the same source sets both.
   */
  eitherText<A extends FlagName, B extends FlagName>(one: A, other: B): A | B | undefined {
    const [set, otherSet] = [this.findSetting(one) !== undefined, this.findSetting(other) !== undefined];
    return set && otherSet ? this.#stronger(one, other) : set ? one : otherSet ? other : undefined;
  }

  /** Returns a number that is not negative. */
  count(name: FlagName): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,9}$/.test(text)) throw usageError(`--${name} is a whole number, not "${text}"`);
    return Number(text);
  }

  /** Returns a duration in ms, limited to the longest timer for flags that set timers. */
  duration(name: FlagName): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const ms = durationOf(text);
    if (ms === undefined || !Number.isSafeInteger(ms))
      throw usageError(`--${name} is a time such as 500ms, 2s, 5m or 1h, not "${text}"`);
    return TIMERS.includes(name) ? Math.min(ms, LONGEST_TIMER_MS) : ms;
  }

  /** Returns a number of bytes. */
  bytes(name: FlagName): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const bytes = bytesOf(text);
    if (bytes === undefined) throw usageError(`--${name} is a size such as 500kB, 20MB or 1.5GiB, not "${text}"`);
    return bytes;
  }

  /** Returns a JSON object. */
  object(name: FlagName): Record<string, unknown> | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = parseJson(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw usageError(`--${name} is a JSON object such as {"key":"value"}`);
  }

  /** Returns every configurable setting, in the order of the table. */
  all(): readonly { readonly name: FlagName; readonly setting: Setting | undefined }[] {
    return CONFIGURABLE_FLAGS.map((name) => ({ name, setting: this.findSetting(name) }));
  }

  /** Returns a setting for use. Refuses one from an untrusted source that must not set it. */
  #used(name: FlagName): Setting | undefined {
    const setting = this.findSetting(name);
    if (setting?.distrust === undefined) return setting;
    const origin = SETTING_ORIGINS[name];
    if (origin === 'trusted') throw untrustedError(name, setting, 'is taken from trusted files only');
    const credential = origin === 'recipient' ? this.#credentialBeside(setting.source) : undefined;
    if (credential !== undefined)
      throw untrustedError(name, setting, `decides where the credential of ${variableOf(credential)} goes`);
    return setting;
  }

  /** Returns a credential flag that another source sets. */
  #credentialBeside(source: string): FlagName | undefined {
    return CREDENTIAL_FLAGS.find((name) => {
      const setting = this.findSetting(name);
      return setting !== undefined && setting.source !== source;
    });
  }

  #stronger<A extends FlagName, B extends FlagName>(one: A, other: B): A | B {
    const [rank, otherRank] = [this.#rank(one), this.#rank(other)];
    if (rank === otherRank) throw usageError(`--${one} and --${other} exclude each other`);
    return rank < otherRank ? one : other;
  }

  #rank(name: FlagName): number {
    const source = this.findSetting(name)?.source;
    return source === 'flag' ? -1 : this.#layers.findIndex((layer) => layer.source === source);
  }
}

/** Flags that set timers. */
const TIMERS: readonly FlagName[] = ['timeout', 'poll-interval'];
/** Node.js fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function untrustedError(name: FlagName, { source, distrust }: Setting, why: string): CliError {
  const state = distrust === 'changed' ? 'has changed since it was trusted' : 'is not trusted';
  return usageError(
    `${source} ${state}: its ${variableOf(name)} ${why}`,
    `read the file, then: parley config trust ${shellWord(source)}`,
  );
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const LONGEST_DURATION = 100;

/** Parses a duration such as `2s` or `1m30s` to whole ms; a bare number is in seconds. `undefined` if it is invalid. */
export function durationOf(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  if (text.length > LONGEST_DURATION || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  const pieces = Array.from(text.matchAll(/([\d.]+)([a-z]*)/g));
  return Math.round(pieces.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNITS[unit] ?? 0), 0));
}

const PREFIXES = ['', 'k', 'm', 'g', 't'];

/** Parses a size such as `20MB` or `1.5GiB`; a bare number is in bytes. `undefined` if it is invalid. */
export function bytesOf(text: string): number | undefined {
  const [, number, prefix = '', binary] = /^(\d{1,15}(?:\.\d{1,3})?)(?:([kmgt])(i)?)?b?$/i.exec(text) ?? [];
  if (number === undefined) return undefined;
  const bytes = Number(number) * (binary === undefined ? 1000 : 1024) ** PREFIXES.indexOf(prefix.toLowerCase());
  return Number.isSafeInteger(Math.round(bytes)) ? Math.round(bytes) : undefined;
}

/** Parses JSON. `undefined` if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
