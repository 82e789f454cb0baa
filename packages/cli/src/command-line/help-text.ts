import type { Settings } from '../settings/settings.js';
import type { Command } from './command.js';
import { COMMANDS, GLOBAL_FLAGS } from './commands.js';
import { type FlagName, flagOf, variableOf } from './flags.js';

const INTRODUCTION = 'parley calls, serves and looks after agents that speak Agent2Agent (A2A).';

/** Returns the help for the whole tool, for a group such as `task`, or for one command. */
export function helpText(words: readonly string[], settings: Settings): string {
  const path = words.join(' ');
  const command = COMMANDS.find((row) => row.path === path || row.aliases?.includes(path));
  if (command !== undefined) return commandHelp(command, settings);
  const listed = COMMANDS.filter((row) => path === '' || row.path.startsWith(`${path} `));
  const shown = listed.length > 0 ? listed : COMMANDS;
  const sections = [
    ...(path === '' ? [INTRODUCTION] : []),
    `Usage: parley ${listed.length > 0 && path !== '' ? `${path} ` : ''}<command> [arguments] [flags]`,
    `Commands:\n${rows(shown.map(({ path: name, args, summary }) => [joinWords(name, args), summary]))}`,
    `Flags of every command:\n${flagRows(GLOBAL_FLAGS, settings)}`,
    'parley help <command> shows the flags of a command with their values.',
  ];
  return `${sections.join('\n\n')}\n`;
}

function commandHelp(command: Command, settings: Settings): string {
  const { path, args, summary, flags, aliases, example, notes } = command;
  const variables = flags.some((name) => flagOf(name).secret === true);
  const sections = [
    summary,
    `Usage: parley ${path}${args === undefined ? '' : ` ${args}`} [flags]`,
    ...(aliases === undefined ? [] : [`Also: ${aliases.map((alias) => `parley ${alias}`).join(', ')}`]),
    ...(notes === undefined ? [] : [notes]),
    ...flagGroups(flags, settings),
    command.hasOwnFlags === true
      ? `parley ${path} --help shows its flags.`
      : `Flags of every command:\n${flagRows(GLOBAL_FLAGS, settings)}`,
    ...(variables
      ? [
          'A credential in a flag is seen in the process table and the shell history: better put it in its variable\n' +
            `(${flags
              .filter((name) => flagOf(name).secret === true)
              .map(variableOf)
              .join(', ')}) or in a .env file of mode 0600.`,
        ]
      : []),
    `Example:\n  ${example}`,
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Groups of flags in the help of a command. Its own flags come first. */
const GROUPS: Readonly<Record<string, readonly FlagName[]>> = {
  'Flags of the wait': ['await-auth', 'poll-interval', 'timeout'],
  'Flags that name the agent': [
    'agent-card',
    'endpoint',
    'transport',
    'a2a-version',
    'tenant',
    'svc-param',
    'extension',
  ],
  'Flags for credentials and trust': [
    ...(['bearer', 'api-key', 'auth', 'client-cert', 'client-key', 'ca-cert'] as const),
    ...(['card-key', 'card-key-origin', 'insecure'] as const),
  ],
};

function flagGroups(flags: readonly FlagName[], settings: Settings): string[] {
  const grouped = Object.entries(GROUPS).map(
    ([title, names]) => [title, flags.filter((name) => names.includes(name))] as const,
  );
  const own = flags.filter((name) => !grouped.some(([, names]) => names.includes(name)));
  return [['Flags', own] as const, ...grouped]
    .filter(([, names]) => names.length > 0)
    .map(([title, names]) => `${title}:\n${flagRows(names, settings)}`);
}

function flagRows(names: readonly FlagName[], settings: Settings): string {
  return rows(
    names.map((name) => {
      const { short, value, help, repeats } = flagOf(name);
      const spelled = `${short === undefined ? '    ' : `-${short}, `}${joinWords(`--${name}`, value && `<${value}>`)}`;
      const notes = [help, ...(repeats === true ? ['(repeats)'] : []), currentValue(name, settings)];
      return [spelled, notes.filter((note) => note !== '').join(' ')];
    }),
  );
}

/** Returns the current value of a flag, if it has one. */
function currentValue(name: FlagName, settings: Settings): string {
  const { secret, builtIn } = flagOf(name);
  const setting = settings.findSetting(name);
  if (setting === undefined || setting.source === 'flag') return builtIn === undefined ? '' : `(default: ${builtIn})`;
  const shown = secret === true ? '…' : setting.values.join(',');
  return `(default: ${shown}${setting.source === 'built-in' ? '' : `, from ${setting.source}`})`;
}

function rows(table: readonly (readonly string[])[]): string {
  const width = Math.max(...table.map(([left = '']) => left.length));
  return table.map(([left = '', right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}

function joinWords(...words: readonly (string | undefined)[]): string {
  return words.filter((word) => word !== undefined).join(' ');
}
