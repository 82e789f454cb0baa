import type { Command } from '../command-line/command.js';
import { COMMANDS } from '../command-line/commands.js';
import { FLAG_NAMES, type FlagName, flagOf } from '../command-line/flags.js';
import { flagsOf } from '../command-line/parse.js';

/** Returns the words that can follow a word: `""` for the first word, `task` for its commands. */
function groups(): ReadonlyMap<string, readonly { readonly word: string; readonly summary: string }[]> {
  const found = new Map<string, Map<string, string>>();
  for (const { path, summary } of COMMANDS) {
    const words = path.split(' ');
    for (const [index, word] of words.entries()) {
      const prefix = words.slice(0, index).join(' ');
      const group = found.get(prefix) ?? new Map<string, string>();
      if (!group.has(word) || index === words.length - 1)
        group.set(word, index === words.length - 1 ? summary : `${word} …`);
      found.set(prefix, group);
    }
  }
  return new Map(
    Array.from(found, ([prefix, group]) => [prefix, Array.from(group, ([word, summary]) => ({ word, summary }))]),
  );
}

const flagSpellings = (names: readonly FlagName[]) =>
  names.flatMap((name) => [`--${name}`, ...(flagOf(name).short === undefined ? [] : [`-${flagOf(name).short}`])]);
const valueFlags = () => flagSpellings(FLAG_NAMES.filter((name) => flagOf(name).type === 'string')).join('|');
const argumentsOf = ({ path }: Command) => (path === 'completion' ? ['bash', 'zsh', 'fish'] : []);

/** Script for `source <(parley completion bash)`. */
export function bashCompletion(): string {
  const follow = Array.from(
    groups(),
    ([prefix, words]) => `    '${prefix}') words='${words.map(({ word }) => word).join(' ')}';;`,
  );
  const flags = COMMANDS.map(
    (command) =>
      `    '${command.path}') words='${[...argumentsOf(command), ...flagSpellings(flagsOf(command))].join(' ')}';;`,
  );
  return `# Completion of parley for bash: source <(parley completion bash)
_parley() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="" words="" word skip=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [ -n "$skip" ]; then skip=""; continue; fi
    case "$word" in
      ${valueFlags()}) skip=1;;
      -*) ;;
      *) before="\${before:+$before }$word";;
    esac
  done
  if [ -n "$skip" ]; then
    COMPREPLY=( $(compgen -f -- "$current") )
    return
  fi
  while :; do
    case "$before" in
${[...follow, ...flags].join('\n')}
    esac
    # Arguments stand behind the words of a command.
    if [ -n "$words" ] || [ -z "$before" ]; then break; fi
    case "$before" in *' '*) before="\${before% *}";; *) before="";; esac
  done
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
  case "$current" in -*) ;; *) COMPREPLY+=( $(compgen -f -- "$current") );; esac
}
complete -F _parley parley
`;
}

/** Script for `source <(parley completion zsh)`. */
export function zshCompletion(): string {
  return `#compdef parley
# Completion of parley for zsh: source <(parley completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bashCompletion()}`;
}

/** Script for `parley completion fish | source`. */
export function fishCompletion(): string {
  const lines = Array.from(groups(), ([prefix, words]) =>
    words.map(
      ({ word, summary }) => `complete -c parley -f -n '__parley_at "${prefix}"' -a ${word} -d '${quoteText(summary)}'`,
    ),
  ).flat();
  const flags = COMMANDS.flatMap((command) =>
    flagsOf(command).map((name) => {
      const { type, short, help } = flagOf(name);
      const letter = short === undefined ? '' : ` -s ${short}`;
      const value = type === 'string' ? ' -r' : '';
      return `complete -c parley -n '__parley_in "${command.path}"' -l ${name}${letter}${value} -d '${quoteText(help)}'`;
    }),
  );
  return `# Completion of parley for fish: parley completion fish | source
function __parley_words
  set -l words (commandline -opc)
  string join ' ' -- (string match -v -- '-*' $words[2..-1])
end
function __parley_at
  test (__parley_words | string collect --allow-empty) = "$argv[1]"
end
function __parley_in
  string match -q -- "$argv[1]*" (__parley_words | string collect --allow-empty)
end
${[...lines, ...flags].join('\n')}
`;
}

function quoteText(text: string): string {
  return text.replaceAll("'", "\\'");
}
