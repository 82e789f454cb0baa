import type { AgentExecutor, AgentOptions } from 'parley-a2a/server';
import { CARD_DEFAULTS } from './card-defaults.js';

const executor: AgentExecutor = {
  async execute({ text }, events) {
    const greeting = text === '' ? 'Hello, World!' : `Hello, World! You said: "${text}"`;
    await events.working();
    await events.artifact(greeting, { artifactId: 'hello_world_result', name: 'hello_world_result' });
    await events.complete(greeting);
  },
};

/** The smallest agent with tasks. It greets in an artifact and in the final status. */
export function helloAgent() {
  return {
    ...CARD_DEFAULTS,
    id: 'hello',
    versions: ['1.0', '0.2.5'],
    agent: executor,
    name: 'HelloWorld Agent',
    description: 'Greets whoever writes to it.',
    provider: { organization: 'A2A Project', url: 'https://a2a-protocol.org' },
    skills: [
      {
        id: 'hello_world',
        name: 'Hello World',
        description: 'Greets the caller and quotes what was said.',
        tags: ['greeting', 'hello', 'basic'],
        examples: ['hello', 'hi there', 'good morning'],
      },
    ],
  } satisfies AgentOptions;
}
