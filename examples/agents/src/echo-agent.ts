import { CARD_DEFAULTS } from './card-defaults.js';
import type { ExampleAgent } from './example-agent.js';
import { textsOf } from './message-text.js';

/** Answers every message with its own text. It keeps no task and offers neither streaming nor push. */
export function echoAgent(): ExampleAgent {
  return {
    card: {
      ...CARD_DEFAULTS,
      name: 'Echo Agent',
      description: 'Answers every message with its own text.',
      capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
      skills: [
        {
          id: 'echo',
          name: 'Echo',
          description: 'Sends back the text it is sent.',
          tags: ['echo', 'example'],
          examples: ['Hello there', 'Is anybody listening?'],
        },
      ],
    },
    executor: {
      replies: 'either',
      execute({ message }, events) {
        const text = textsOf(message).join(' ');
        return events.message(`Echo: ${text === '' ? '(empty message)' : text}`);
      },
    },
  };
}
