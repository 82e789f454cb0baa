import type { AgentExecutor, AgentOptions } from 'parley-a2a/server';
import { CARD_DEFAULTS } from './card-defaults.js';
import { textsOf } from './message-text.js';

const executor: AgentExecutor = {
  replies: 'either',
  execute({ message }, events) {
    const text = textsOf(message).join(' ');
    return events.message(`Echo: ${text === '' ? '(empty message)' : text}`);
  },
};

/** Answers every message with its own text. It keeps no task and offers neither streaming nor push. */
export function echoAgent() {
  return {
    ...CARD_DEFAULTS,
    id: 'echo',
    versions: ['1.0'],
    agent: executor,
    name: 'Echo Agent',
    description: 'Answers every message with its own text.',
    streaming: false,
    pushNotifications: false,
    skills: [
      {
        id: 'echo',
        name: 'Echo',
        description: 'Sends back the text it is sent.',
        tags: ['echo', 'example'],
        examples: ['Hello there', 'Is anybody listening?'],
      },
    ],
  } satisfies AgentOptions;
}
