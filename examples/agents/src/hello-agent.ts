import { CARD_DEFAULTS } from './card-defaults.js';
import type { ExampleAgent } from './example-agent.js';

/** The smallest agent with tasks: greets, as an artifact and in the closing status. */
export function helloAgent(): ExampleAgent {
  return {
    card: {
      ...CARD_DEFAULTS,
      name: 'HelloWorld Agent',
      description: 'Greets whoever writes to it.',
      provider: { organization: 'A2A Project', url: 'https://a2a-protocol.org' },
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
      skills: [
        {
          id: 'hello_world',
          name: 'Hello World',
          description: 'Greets the caller and quotes what was said.',
          tags: ['greeting', 'hello', 'basic'],
          examples: ['hello', 'hi there', 'good morning'],
        },
      ],
    },
    executor: {
      async execute({ text }, events) {
        const greeting = text === '' ? 'Hello, World!' : `Hello, World! You said: "${text}"`;
        await events.working();
        await events.artifact(greeting, { artifactId: 'hello_world_result', name: 'hello_world_result' });
        await events.complete(greeting);
      },
    },
  };
}
