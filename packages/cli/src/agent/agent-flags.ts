import type { FlagName } from '../command-line/flags.js';
import type { Invocation } from '../command-line/invocation.js';
import { shellWord } from '../task/shell-word.js';

/** Flags that select the agent and the way to call it, without credentials. */
const NAMING: readonly FlagName[] = [
  'agent-card',
  'endpoint',
  'transport',
  'a2a-version',
  'tenant',
  'card-key',
  'card-key-origin',
  'config',
  'insecure',
];

/**
 * Returns the given flags that select the agent, each after a space, to print a further command. Settings from other
 * sources apply to that command anyway.
 */
export function agentFlags({ given }: Invocation): string {
  return given
    .filter(({ name }) => NAMING.includes(name))
    .map(({ name, value }) => (value === true ? ` --${name}` : ` --${name} ${shellWord(value)}`))
    .join('');
}
