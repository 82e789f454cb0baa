import { CARD_DEFAULTS } from './card-defaults.js';
import { type BehaviourTools, behaviourFor } from './compliance-behaviours.js';
import type { ExampleAgent } from './example-agent.js';
import { textsOf } from './message-text.js';
import { continueConversation, SCENARIOS } from './spec-scenarios.js';

const CARD = {
  ...CARD_DEFAULTS,
  name: 'Spec Agent',
  description: 'Shows what the protocol can do: the keyword that a message begins with chooses what happens.',
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
  defaultOutputModes: ['text/plain', 'application/json', 'image/svg+xml'],
  securitySchemes: {
    bearer: {
      httpAuthSecurityScheme: {
        scheme: 'Bearer',
        description: 'A token for the extended card; nothing else asks for one.',
      },
    },
  },
  skills: SCENARIOS.map(({ keyword, name, description, tags }) => ({
    id: keyword,
    name,
    description,
    tags: [...tags],
    examples: [`${keyword} hello`],
  })),
};

const EXTENDED_CARD = {
  ...CARD,
  skills: [
    ...CARD.skills,
    {
      id: 'admin-status',
      name: 'Admin status',
      description: 'Known only to callers who have the token.',
      tags: ['admin'],
      examples: ['admin-status'],
    },
  ],
};

const HELP = [
  'Begin your message with one of these keywords:',
  ...SCENARIOS.map(({ keyword, description }) => `${keyword}: ${description}`),
].join('\n');

/** One scenario of the protocol per keyword that a message begins with. */
export function specAgent(tools: BehaviourTools): ExampleAgent {
  return {
    card: CARD,
    extended: { card: EXTENDED_CARD, token: 'acceptance-token' },
    executor: {
      replies: 'either',
      async execute(context, events) {
        const behaviour = behaviourFor(context.message.messageId);
        if (behaviour !== undefined) return behaviour(context, events, tools);

        const text = textsOf(context.message)[0] ?? '';
        const turn = { text, context, events, clock: tools.clock };
        if (context.task !== undefined) return continueConversation({ ...turn, text: context.text });

        const wanted = text.trim().toLowerCase();
        const scenario = SCENARIOS.find(({ keyword }) => wanted.startsWith(keyword));
        return scenario === undefined ? events.message(HELP) : scenario.run(turn);
      },
    },
  };
}
