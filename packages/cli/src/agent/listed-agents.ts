import { AgentCardError } from 'parley-a2a/client';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { CREDENTIAL_FLAGS } from '../settings/setting-origins.js';

/** Maximum number of agents of a catalog in one command. */
const MOST_LISTED = 50;

/** Returns the references of the agents of a catalog. Empty if the error is not about a catalog with several agents. */
export function listedAgents({ settings }: Invocation, error: unknown, reference: string): readonly string[] {
  if (!(error instanceof AgentCardError) || error.fault !== 'ambiguous') return [];
  const { length } = error.choices;
  const advice = `name the wanted one by ${reference}#${error.choices[0]}`;
  if (length > MOST_LISTED) {
    throw usageError(`${reference} lists ${length} agents, and ${MOST_LISTED} can be taken together`, advice);
  }
  const credential = CREDENTIAL_FLAGS.find((name) => settings.findSetting(name) !== undefined);
  if (credential !== undefined) {
    throw usageError(`--${credential} goes to one agent only, and ${reference} lists ${length}`, advice);
  }
  return error.choices.map((identifier) => `${reference}#${encodeURIComponent(identifier)}`);
}
