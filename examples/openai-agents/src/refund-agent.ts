import { Agent, type Model, tool } from '@openai/agents';
import { z } from 'zod';

const refund = tool({
  name: 'refund',
  description: 'Pays an amount in euros back',
  parameters: z.object({ euros: z.number() }),
  needsApproval: async (_context, { euros }) => euros > 20,
  execute: ({ euros }) => `${euros} euros are on their way`,
});

/** An agent that refunds orders. A person approves a large refund. */
export function refundAgent(model: string | Model) {
  const instructions = 'You refund orders. Use the tool, then tell the customer what you did.';
  return new Agent({ name: 'Refunds', instructions, tools: [refund], model });
}
