import { A2AError } from 'parley-a2a/client';
import { CliError } from '../failure/cli-error.js';

/** Waits for a card. A malformed card becomes A2ACLI_ERR_CARD_INVALID instead of an error of the agent. */
export async function readCard<T>(search: Promise<T>): Promise<T> {
  try {
    return await search;
  } catch (error) {
    if (!(error instanceof A2AError) || error.code !== 'INVALID_AGENT_RESPONSE') throw error;
    const problem = error.message.split(': card.').at(-1) ?? error.message;
    throw new CliError('A2ACLI_ERR_CARD_INVALID', `the card is malformed: ${problem}`, {
      cause: error,
      hint: 'parley card get --validate lists all faults of the card',
    });
  }
}
