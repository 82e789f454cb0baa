import type { AgentExecutor } from 'parley-a2a';

/** Chunks of a stream. With SUBMITTED, WORKING and COMPLETED it has more events. */
const CHUNKS = 1_000;

/** The agent of each workload. */
export const TRACED_AGENTS: Readonly<Record<string, AgentExecutor>> = {
  call: { replies: 'either', execute: ({ text }, events) => events.message(text) },
  task: {
    async execute({ text }, events) {
      await events.artifact(text);
      await events.complete();
    },
  },
  stream: {
    async execute(_, events) {
      const artifact = await events.artifact('chunk 0');
      for (let chunk = 1; chunk < CHUNKS; chunk += 1) await events.append(artifact, `chunk ${chunk}`);
      await events.complete();
    },
  },
};
