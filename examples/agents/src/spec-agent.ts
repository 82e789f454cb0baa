import { type Authenticator, BearerTokens, optional } from 'parley-a2a/auth';
import type { AgentCard, AgentExecutor, AgentOptions } from 'parley-a2a/server';
import { CARD_DEFAULTS } from './card-defaults.js';
import { type BehaviourTools, behaviourFor } from './compliance-behaviours.js';
import { textsOf } from './message-text.js';
import { continueConversation, SCENARIOS } from './spec-scenarios.js';

/** Only the extended card needs a credential. The token is public, so that no protected server may take it. */
const OPEN = optional(new BearerTokens([{ token: 'acceptance-token', subject: 'acceptance' }]));

const HELP = [
  'Begin your message with one of these keywords:',
  ...SCENARIOS.map(({ keyword, description }) => `${keyword}: ${description}`),
].join('\n');

const ADMIN_SKILL = {
  id: 'admin-status',
  name: 'Admin status',
  description: 'Known only to callers who have the token.',
  tags: ['admin'],
  examples: ['admin-status'],
};

/** An agent with one scenario of the protocol per keyword. A message begins with the keyword. */
export function specAgent(tools: BehaviourTools, authenticator: Authenticator = OPEN) {
  const executor: AgentExecutor = {
    replies: 'either',
    // Every client sees the chunks that a scenario names.
    artifactEnd: 'chunk',
    async execute(context, events) {
      const behaviour = behaviourFor(context.message.messageId);
      if (behaviour !== undefined) return behaviour(context, events, tools);

      const { clock } = tools;
      if (context.task !== undefined) return continueConversation({ text: context.text, context, events, clock });

      const text = textsOf(context.message)[0] ?? '';
      const wanted = text.trim().toLowerCase();
      const scenario = SCENARIOS.find(({ keyword }) => wanted.startsWith(keyword));
      return scenario === undefined ? events.message(HELP) : scenario.run({ text, context, events, clock });
    },
  };
  return {
    ...CARD_DEFAULTS,
    id: 'spec',
    versions: ['1.0'],
    agent: executor,
    pushNotifications: false,
    name: 'Spec Agent',
    description: 'Shows what the protocol can do: the keyword that a message begins with chooses what happens.',
    defaultOutputModes: ['text/plain', 'application/json', 'image/svg+xml'],
    skills: SCENARIOS.map(({ keyword, name, description, tags }) => ({
      id: keyword,
      name,
      description,
      tags,
      examples: [`${keyword} hello`],
    })),
    authenticator,
    // A tenant is a plain partition here: every caller may name every one.
    tenants: () => true,
    extendedAgentCard: (card: AgentCard): AgentCard => ({ ...card, skills: [...card.skills, ADMIN_SKILL] }),
  } satisfies AgentOptions;
}

/** The same agent for 0.3 only, with its own tasks and without an extended card. */
export function spec03Agent(tools: BehaviourTools): AgentOptions {
  const { authenticator: _, extendedAgentCard: __, tenants: ___, ...spec } = specAgent(tools);
  return { ...spec, id: 'spec03', name: 'Spec Agent (0.3)', versions: ['0.3'] };
}
