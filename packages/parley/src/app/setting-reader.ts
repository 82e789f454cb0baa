import { OptionsError } from '../errors/options-error.js';
import { printableUrl } from '../telemetry/printable-url.js';
import { isSecretName } from '../telemetry/redaction.js';
import { nameSettings, SERVER_SETTINGS, type ServerSetting, type SettingName } from './server-settings.js';
import { type FormValue, SETTING_FORMS, type SettingForm } from './setting-forms.js';

/** The place where a user has set settings: the environment, or a command line. */
export interface SettingSource {
  /** The name under which the user sets it. */
  nameOf(name: SettingName): string;
  /** The entries of a list, or one text; empty if it is not set. */
  textsOf(name: SettingName): readonly string[];
  /** The end of a sentence about the form of a list, such as `, separated by commas`. */
  readonly separated: string;
}

type Table = Readonly<Record<string, ServerSetting<SettingForm, string, string>>>;
type ValueOf<Row extends Table[string]> =
  | FormValue<Row['form']>
  | ([Exclude<Row['default'], undefined>] extends [never] ? undefined : never);

/** The values of the settings of a table. A setting without a default may be undefined. */
export type SettingValues<Rows extends Table> = { readonly [Name in keyof Rows]: ValueOf<Rows[Name]> };

/** Reads settings from a source, and collects what is wrong. */
export class SettingReader {
  readonly #source: SettingSource;
  readonly #problems: string[];

  constructor(source: SettingSource, problems: readonly string[] = []) {
    this.#source = source;
    this.#problems = [...problems];
  }

  /** Reads the settings of a table. A wrong value becomes a problem, and is undefined here. */
  read<Rows extends Table>(rows: Rows): SettingValues<Rows> {
    const names = Object.keys(rows) as SettingName[];
    return Object.fromEntries(names.map((name) => [name, this.#valueOf(name)])) as SettingValues<Rows>;
  }

  /** Adds a problem. `{port}` in it stands for the name of the setting `port`. */
  refuse(problem: string): void {
    this.#problems.push(this.#named(problem));
  }

  /** Adds the problem that a value has not the form of its setting. */
  refuseForm(name: SettingName): void {
    const { variable, form, repeats, secret } = SERVER_SETTINGS[name] as ServerSetting;
    const text = this.#source.textsOf(name).join(',');
    const isUrl = variable.endsWith('_URL') || /@|\/\//.test(text);
    const shown = secret || isSecretName(variable) ? '' : `="${isUrl ? printableUrl(text) : text}"`;
    const right = `${this.#named(SETTING_FORMS[form].right)}${repeats ? this.#source.separated : ''}`;
    this.#problems.push(`${this.#source.nameOf(name)}${shown} must be ${right}`);
  }

  /** @throws OptionsError with all problems, if there are some. */
  check(subject: string): void {
    if (this.#problems.length > 0) throw new OptionsError(subject, this.#problems);
  }

  #valueOf(name: SettingName): unknown {
    const { form, default: initial } = SERVER_SETTINGS[name] as ServerSetting;
    const given = this.#source.textsOf(name);
    const texts = given.length > 0 || initial === undefined ? given : [initial];
    if (texts.length === 0) return undefined;
    const value = SETTING_FORMS[form].parse(texts);
    if (value === undefined) this.refuseForm(name);
    return value;
  }

  #named(text: string): string {
    return nameSettings(text, (name) => this.#source.nameOf(name));
  }
}

type Defined<Values> = {
  [Name in keyof Values as undefined extends Values[Name] ? never : Name]: Values[Name];
} & { [Name in keyof Values as undefined extends Values[Name] ? Name : never]?: Exclude<Values[Name], undefined> };

/** The members that are set. */
export function definedOf<Values extends object>(values: Values): Defined<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<Values>;
}
