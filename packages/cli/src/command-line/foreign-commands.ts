import { shellWord } from '../task/shell-word.js';

/** A command of another A2A tool, with its translation. */
interface ForeignCommand {
  /** First words of the command in the other tool. */
  readonly words: readonly string[];
  /** Returns the same call for this tool, from the arguments after those words. */
  readonly here: (args: readonly string[]) => string;
}

const agent = (url: string | undefined) => (url === undefined ? '' : ` -a ${shellWord(url)}`);
const onTask =
  (command: string) =>
  ([url, id]: readonly string[]): string =>
    id === undefined
      ? `parley task ${command} ${url === undefined ? '<id>' : shellWord(url)}`
      : `parley task ${command} ${shellWord(id)}${agent(url)}`;
const card = ([url = '<url>']: readonly string[]) => `parley card get ${url === '<url>' ? url : shellWord(url)}`;
const list = ([url]: readonly string[]) => `parley task list${agent(url)}`;

/** A command must stand before any command that is a prefix of it. */
const FOREIGN: readonly ForeignCommand[] = [
  { words: ['discover'], here: card },
  { words: ['get', 'card'], here: card },
  { words: ['get', 'task'], here: onTask('get') },
  { words: ['get'], here: onTask('get') },
  { words: ['list', 'tasks'], here: list },
  { words: ['list'], here: list },
  { words: ['subscribe'], here: onTask('subscribe') },
  { words: ['cancel'], here: onTask('cancel') },
];

/** Translates a command of another A2A tool; undefined for an unknown one. */
export function translatedCommand(positionals: readonly string[]): string | undefined {
  const found = FOREIGN.find(({ words }) => words.every((word, index) => positionals[index] === word));
  return found?.here(positionals.slice(found.words.length));
}
