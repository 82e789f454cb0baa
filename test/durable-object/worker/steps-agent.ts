import type { AgentExecutor } from 'parley-a2a/server';

/** An agent that posts each step to a url, and continues with the answer. */
export function stepsAgent(url: string): AgentExecutor {
  return {
    resumable: true,
    async execute(context, events) {
      const { text, attempt, checkpoint } = context;
      const tell = async (step: string) => {
        const body = JSON.stringify({ text, step, attempt, checkpoint });
        return (await fetch(url, { method: 'POST', body })).text();
      };
      if (checkpoint === undefined) {
        await events.artifact(`${text} began`);
        await context.saveCheckpoint({ begun: attempt });
      }
      await tell('work');
      await events.complete(`${text} is done`);
    },
  };
}
