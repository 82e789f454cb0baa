import type { AgentExecutor } from '../server/agent-executor.js';

/** Answers in the place of an agent that is not written yet. */
export const noAgentYet: AgentExecutor = {
  replies: 'either',
  async execute(_context, events) {
    await events.message('This server has no agent yet. Its author gives it one with createA2AServer({ agent }).');
  },
};
