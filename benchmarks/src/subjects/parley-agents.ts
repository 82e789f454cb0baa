import { type AgentExecutor, agent } from 'parley-a2a/server';
import { type AnswerKind, CHUNKS, chunkText, nextTurn } from '../workloads.js';
import { probed } from './probe-agent.js';

const echo: AgentExecutor = {
  replies: 'either',
  execute: (context, events) => events.message(context.text),
};

const finishing = agent((prompt) => prompt);

/** The smallest agent for each kind of answer. */
export const AGENTS: { readonly [Kind in AnswerKind]: AgentExecutor } = {
  call: echo,
  task: finishing,
  get: finishing,
  list: finishing,
  stream: agent(async function* () {
    for (let index = 0; index < CHUNKS; index++) {
      await nextTurn();
      yield chunkText(index);
    }
  }),
};

/** The agent of the probes. */
export const PROBED: AgentExecutor = {
  execute: ({ text }, events) =>
    probed(text, {
      chunk: async (content, append) => {
        if (append) await events.append('response', content);
        else await events.artifact(content, { artifactId: 'response' });
      },
      complete: () => events.complete(),
    }),
};
