import type { AgentExecutor, AgentOptions } from 'parley-a2a/server';
import { CARD_DEFAULTS } from './card-defaults.js';
import { type Behaviour, type BehaviourTools, behaviourFor } from './compliance-behaviours.js';

const converse: Behaviour = async ({ text, signal }, events, { clock }) => {
  await events.working('Working on your message...');
  if (await clock.pause(200, signal)) {
    await events.inputRequired(`Hello! You said: "${text}". What else can I do for you?`);
  }
};

/**
 * Does what the prefix of `messageId` asks for, so that a test chooses the behaviour. Answers any other message after
 * some work, and the conversation goes on.
 */
export function complianceAgent(tools: BehaviourTools) {
  const executor: AgentExecutor = {
    replies: 'either',
    // Every client sees the chunks that a message id asks for.
    artifactEnd: 'chunk',
    execute: (context, events) => (behaviourFor(context.message.messageId) ?? converse)(context, events, tools),
  };
  return {
    ...CARD_DEFAULTS,
    id: 'compliance',
    versions: ['1.0', '0.3'],
    agent: executor,
    name: 'Compliance Agent',
    description: 'Does what the beginning of the message id asks for, for clients and compatibility kits to be tested.',
    defaultInputModes: ['text/plain', 'application/json', '*/*'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [
      {
        id: 'compliance',
        name: 'Compliance',
        description: 'Answers messages whose id begins with tck- as that id says.',
        tags: ['compliance', 'test'],
        examples: ['A message with the id tck-complete-task-1', 'A message with the id tck-stream-001'],
      },
      {
        id: 'conversation',
        name: 'Conversation',
        description: 'Answers any other message and asks to go on.',
        tags: ['conversation', 'multi-turn'],
        examples: ['Hello', 'Tell me more'],
      },
    ],
  } satisfies AgentOptions;
}
