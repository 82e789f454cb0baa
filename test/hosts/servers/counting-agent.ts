import type { AgentExecutor } from 'parley-a2a';

/** An agent that echoes, counts, waits, and returns files. */
export const countingAgent: AgentExecutor = {
  async execute(context, events) {
    const [command, number] = context.text.split(' ');
    if (command === 'wait') {
      await events.working();
      await new Promise((_, reject) => {
        context.signal.addEventListener('abort', () => reject(context.signal.reason), { once: true });
      });
    }
    if (command === 'count') {
      const id = await events.artifact('0');
      for (let at = 1; at < Number(number); at++) await events.append(id, `${at}`);
    } else {
      const file = context.message.parts.find((part) => part.raw !== undefined);
      await events.artifact(file === undefined ? `Echo: ${context.text}` : [file]);
    }
    await events.complete();
  },
};
