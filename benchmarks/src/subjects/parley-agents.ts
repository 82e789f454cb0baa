import { type AgentExecutor, agent } from 'parley-a2a/server';
import { type AnswerKind, CHUNKS, chunkText, nextTurn } from '../workloads.js';

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
