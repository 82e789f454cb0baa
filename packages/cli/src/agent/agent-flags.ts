import type { FlagName } from '../command-line/flags.js';
import type { Invocation } from '../command-line/invocation.js';
import { shellWord } from '../task/shell-word.js';

/** Flags that say which agent is meant and how it is spoken to; credentials are not among them. */
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

/** The flags to write again for the same agent, with a blank before each; settings from elsewhere hold by themselves. */
export function agentFlags({ given }: Invocation): string {
  return given
    .filter(({ name }) => NAMING.includes(name))
    .map(({ name, value }) => (value === true ? ` --${name}` : ` --${name} ${shellWord(value)}`))
    .join('');
}
