import type { AgentCard } from 'parley-a2a';
import type { FetchCardOptions } from 'parley-a2a/client';
import { agentOptions } from '../agent/agent-options.js';
import { type AgentTarget, agentTarget } from '../agent/agent-target.js';
import { type CardSignatures, type CardVerification, verificationText } from '../agent/card-signatures.js';
import { writeCard } from '../agent/card-text.js';
import { readCard } from '../agent/read-card.js';
import { type CalledAgent, withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { CliError } from '../failure/cli-error.js';

/**
 * Prints the card of an agent and the verification of its signatures. `--validate` checks the public card; `--extended`
 * gets the extended one.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { args, settings } = invocation;
  const [reference] = args;
  if (settings.isOn('extended')) {
    const named = reference === undefined ? {} : { reference };
    return withAgent(invocation, (agent) => extendedCard(invocation, agent), named);
  }
  const target = agentTarget(invocation, reference);
  const { connect, signatures } = await agentOptions(invocation, target);
  const onDocument = settings.isOn('validate') ? await validator(invocation) : undefined;
  const options = { ...connect, ...(onDocument !== undefined && { onDocument }) };
  return show(invocation, await shownCard(target, { options, signatures }));
}

async function extendedCard(invocation: Invocation, { client, credentials, signatures }: CalledAgent): Promise<number> {
  if (client.card.capabilities.extendedAgentCard !== true)
    throw new CliError('UnsupportedOperationError', 'the card of the agent offers no extended card', {
      hint: 'parley card get shows the public card',
    });
  // An agent whose card declares no scheme gets no credentials.
  credentials.onlyDeclared = true;
  const card = await client.getExtendedAgentCard();
  return show(invocation, { card, verification: signatures?.verification });
}

interface ShownCard {
  readonly card: AgentCard;
  /** Undefined if no flag sets a key. */
  readonly verification: CardVerification | undefined;
}

interface CardSearch {
  readonly options: FetchCardOptions;
  readonly signatures: CardSignatures | undefined;
}

/** Returns a card with the result of its verification, even if its signatures cannot be verified. */
async function shownCard(target: AgentTarget, { options, signatures }: CardSearch): Promise<ShownCard> {
  const { fetchAgentCard, AgentCardError } = await import('parley-a2a/client');
  try {
    return { card: await readCard(fetchAgentCard(target, options)), verification: signatures?.verification };
  } catch (error) {
    if (!(error instanceof AgentCardError) || error.fault !== 'unverified') throw error;
    const { signatures: _, onDocument: __, ...plain } = options;
    return { card: await fetchAgentCard(target, plain), verification: signatures?.verification };
  }
}

function show({ output }: Invocation, { card, verification }: ShownCard): number {
  // A member `verification` of the card itself must not replace the result.
  const { verification: _, ...own } = card as AgentCard & { readonly verification?: unknown };
  if (output.json) output.document({ ...own, ...(verification !== undefined && { verification }) });
  else writeCard(output, card, verification && verificationText(verification));
  if (verification?.status !== 'unverifiable') return 0;
  output.warn('no signature of the card is valid: its author is unknown');
  return 1;
}

/** Makes the validator of a card. Unknown members are warnings; any other fault is an error. */
async function validator({ output }: Invocation): Promise<(document: unknown) => void> {
  const { cardProblems } = await import('parley-a2a-conformance');
  return (document) => {
    const { wrong, unknown } = cardProblems(document);
    for (const member of unknown) output.warn(`the schema does not know the member ${member}`);
    if (wrong.length > 0)
      throw new CliError('A2ACLI_ERR_CARD_INVALID', `the card does not follow the schema: ${wrong.join('; ')}`);
    if (!output.json) output.note('The card follows the schema.');
  };
}
