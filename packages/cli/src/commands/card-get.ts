import type { AgentCard } from 'parley-a2a';
import { agentOptions } from '../agent/agent-options.js';
import { agentTarget } from '../agent/agent-target.js';
import { writeCard } from '../agent/card-text.js';
import { withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { CliError } from '../failure/cli-error.js';

/** Shows the card of an agent: the public one, checked with `--validate`, or the extended one. */
export async function run(invocation: Invocation): Promise<number> {
  const { args, settings } = invocation;
  if (settings.isOn('extended'))
    return withAgent(invocation, async ({ client, credentials }) => {
      if (client.card.capabilities.extendedAgentCard !== true)
        throw new CliError('A2ACLI_ERR_USAGE', 'the card of the agent offers no extended card');
      // Whoever asks for no credentials is shown none.
      credentials.onlyDeclared = true;
      return show(invocation, await client.getExtendedAgentCard());
    });
  const target = agentTarget(invocation, args[0]);
  const { connect } = await agentOptions(invocation, target);
  const onDocument = settings.isOn('validate') ? await validator(invocation) : undefined;
  const { fetchAgentCard } = await import('parley-a2a/client');
  const card = await fetchAgentCard(target, { ...connect, ...(onDocument !== undefined && { onDocument }) });
  return show(invocation, card);
}

function show({ output }: Invocation, card: AgentCard): number {
  if (output.json) output.document(card);
  else writeCard(output, card);
  return 0;
}

/** Members that nobody knows are told; anything else that is wrong is a failure. */
async function validator({ output }: Invocation): Promise<(document: unknown) => void> {
  const { violationsOf } = await import('parley-a2a/schema');
  return (document) => {
    const [unknown, wrong] = [true, false].map((asked) =>
      violationsOf('AgentCard', document).filter(({ description }) => (description === UNKNOWN_MEMBER) === asked),
    );
    for (const { field } of unknown ?? []) output.warn(`the schema does not know the member ${field}`);
    const problems = (wrong ?? []).map(({ field, description }) => `${field || 'the card'} ${description}`);
    if (problems.length > 0)
      throw new CliError('A2ACLI_ERR_CARD_INVALID', `the card does not follow the schema: ${problems.join('; ')}`);
    if (!output.json) output.note('The card follows the schema.');
  };
}

const UNKNOWN_MEMBER = 'is not a known member';
