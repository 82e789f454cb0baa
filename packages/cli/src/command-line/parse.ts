import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type CliError, usageError } from '../failure/cli-error.js';
import { closest } from './closest.js';
import type { Command } from './command.js';
import { COMMANDS, GLOBAL_FLAGS } from './commands.js';
import { FLAG_NAMES, type FlagName, flagOf } from './flags.js';
import { translatedCommand } from './foreign-commands.js';
import type { GivenFlag } from './invocation.js';

/** A parsed command line. */
export interface CommandLine {
  /** Undefined without a word, or with an incomplete command. */
  readonly command: Command | undefined;
  /** Words before the arguments. */
  readonly words: readonly string[];
  readonly args: readonly string[];
  readonly given: readonly GivenFlag[];
}

/**
 * Parses the arguments of the process. Flags may stand anywhere, and have the same meaning for every command.
 * @throws CliError A2ACLI_ERR_USAGE
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const own = COMMANDS.find(({ path, hasOwnFlags }) => hasOwnFlags === true && path === argv[0]);
  if (own !== undefined) return { command: own, words: [own.path], args: argv.slice(1), given: [] };
  const { options, nameOf } = optionsTable();
  const { tokens } = parseArgs({
    args: withoutSigns(argv),
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given: GivenFlag[] = [];
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const name = nameOf.get(token.name);
    if (name === undefined) throw unknownFlag(token.rawName, [...nameOf.keys()]);
    given.push({ name, value: givenValue(name, token) });
  }
  const { command, words, args } = commandIn(agentBeforeMessage(positionals, given), wantsHelp(given));
  if (command === undefined) return { command, words, args, given };
  const meant = given.map((flag) => ({ ...flag, name: meantFlag(flag.name, command) }));
  checkFlags(command, meant);
  checkChoices(meant);
  return { command, words, args, given: meant };
}

/** Removes the minus of error numbers, which would look like a flag. `parley error 32001` means the same. */
function withoutSigns(argv: readonly string[]): string[] {
  return argv.map((word) => (argv[0] === 'error' && /^-\d+$/.test(word) ? word.slice(1) : word));
}

/** Returns the flags of a command. */
export function flagsOf(command: Command): readonly FlagName[] {
  return command.hasOwnFlags === true ? ['help'] : [...command.flags, ...GLOBAL_FLAGS];
}

function optionsTable(): { options: ParseArgsOptionsConfig; nameOf: ReadonlyMap<string, FlagName> } {
  const options: ParseArgsOptionsConfig = {};
  const nameOf = new Map<string, FlagName>();
  for (const name of FLAG_NAMES) {
    const { type, short, aliases = [] } = flagOf(name);
    options[name] = { type, multiple: true, ...(short !== undefined && { short }) };
    nameOf.set(name, name);
    for (const alias of aliases) {
      options[alias] = { type, multiple: true };
      nameOf.set(alias, name);
    }
  }
  return { options, nameOf };
}

/** Parses `send <url> <message>`, as other tools do: the URL selects the agent. A single word is always the message. */
function agentBeforeMessage(positionals: readonly string[], given: GivenFlag[]): readonly string[] {
  const [command, url = '', ...rest] = positionals;
  const isNamed = given.some(({ name }) => name === 'agent-card' || name === 'endpoint');
  if (command !== 'send' || rest.length !== 1 || isNamed || !/^(?:https?:\/\/|localhost(?:[:/]|$))/i.test(url))
    return positionals;
  given.push({ name: 'agent-card', value: url });
  return [command, ...rest];
}

/** Accepts `--watch`, with which other tools wait for a task. */
function meantFlag(name: FlagName, command: Command): FlagName {
  return name === 'watch' && !command.flags.includes('watch') && command.flags.includes('wait') ? 'wait' : name;
}

function givenValue(name: FlagName, { rawName, value, inlineValue }: OptionToken): string | true {
  if (flagOf(name).type === 'boolean') {
    if (value === undefined || value === 'true') return true;
    throw usageError(`${rawName} takes no value`);
  }
  if (value === undefined) throw usageError(`${rawName} needs a value`);
  // In `--bearer --stream` the value is missing. A value that begins with a minus needs `=`.
  if (inlineValue !== true && value.length > 1 && value.startsWith('-'))
    throw usageError(`${rawName} needs a value; if ${value} is meant, write ${rawName}=${value}`);
  return value;
}

interface OptionToken {
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function wantsHelp(given: readonly GivenFlag[]): boolean {
  return given.some(({ name }) => name === 'help' || name === 'version');
}

function commandIn(positionals: readonly string[], lenient: boolean): Omit<CommandLine, 'given'> {
  for (let length = Math.min(3, positionals.length); length > 0; length--) {
    const path = positionals.slice(0, length).join(' ');
    const command = COMMANDS.find((row) => row.path === path || row.aliases?.includes(path));
    if (command === undefined) continue;
    const args = positionals.slice(length);
    if (!lenient) checkArgs(command, args);
    return { command, words: positionals.slice(0, length), args };
  }
  if (positionals.length === 0) return { command: undefined, words: [], args: [] };
  const known = groupDepth(positionals);
  if (known === 0 || known < positionals.length) throw unknownCommand(positionals, known);
  return { command: undefined, words: positionals, args: [] };
}

/** Returns the number of leading words that begin a command. */
function groupDepth(positionals: readonly string[]): number {
  for (let length = Math.min(2, positionals.length); length > 0; length--) {
    const prefix = `${positionals.slice(0, length).join(' ')} `;
    if (COMMANDS.some(({ path }) => path.startsWith(prefix))) return length;
  }
  return 0;
}

/**
 * Checks the words after `help`.
 * @throws CliError A2ACLI_ERR_USAGE if the words begin no command.
 */
export function checkHelpWords(words: readonly string[]): void {
  commandIn(words, true);
}

function unknownCommand(positionals: readonly string[], known: number): CliError {
  const written = positionals.slice(0, known + 1).join(' ');
  const translated = known === 0 ? translatedCommand(positionals) : undefined;
  if (translated !== undefined) return usageError(`there is no command "${written}" here`, translated);
  const prefixes = COMMANDS.flatMap(({ path, aliases = [] }) => [
    path
      .split(' ')
      .slice(0, known + 1)
      .join(' '),
    ...aliases,
  ]);
  const meant = closest(written, [...new Set(prefixes)]);
  const group = known === 0 ? 'help' : `help ${positionals.slice(0, known).join(' ')}`;
  return usageError(
    `there is no command "${written}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
    `parley ${group}`,
  );
}

function unknownFlag(rawName: string, known: readonly string[]): CliError {
  const meant = closest(rawName.replace(/^-+/, ''), known);
  const hint = rawName === '--json' ? 'for JSON write --output json' : undefined;
  return usageError(`there is no flag ${rawName}${meant === undefined ? '' : `; did you mean --${meant}?`}`, hint);
}

/** The address of an agent, with a scheme or a port. */
const ADDRESS = /^https?:\/\/|^[\w.-]+:\d+(?:\/|$)/;

function checkArgs(command: Command, args: readonly string[]): void {
  const wanted = command.args?.split(' ') ?? [];
  const required = wanted.filter((arg) => arg.startsWith('<'));
  if (command.path === 'help') return;
  if (args.length < required.length)
    throw usageError(`${command.path} needs ${required.slice(args.length).join(' ')}`, `parley help ${command.path}`);
  if (args.length > wanted.length) {
    const other = args[wanted.length] ?? '';
    if (ADDRESS.test(other) && flagsOf(command).includes('agent-card'))
      throw usageError(`${command.path} does not take "${other}" as an argument`, `-a ${other} names the agent`);
    const quotes = command.path === 'send' ? '; put a message of several words in quotes' : '';
    throw usageError(`${command.path} does not take "${other}"${quotes}`, `parley help ${command.path}`);
  }
}

function checkFlags(command: Command, given: readonly GivenFlag[]): void {
  const allowed = flagsOf(command);
  const wrong = given.find(({ name }) => !allowed.includes(name));
  if (wrong !== undefined)
    throw usageError(`${command.path} does not take --${wrong.name}`, `parley help ${command.path}`);
  for (const name of allowed) {
    const times = given.filter((flag) => flag.name === name).length;
    const { repeats, type } = flagOf(name);
    if (times > 1 && repeats !== true && type === 'string') throw usageError(`--${name} can be given only once`);
  }
}

function checkChoices(given: readonly GivenFlag[]): void {
  for (const { name, value } of given) {
    const { choices } = flagOf(name);
    if (choices !== undefined && !choices.includes(String(value)))
      throw usageError(`--${name} is ${choices.slice(0, 2).join(' or ')}, not "${value}"`);
  }
}
