import { TaskState } from '@a2a-js/sdk';
import { AgentEvent } from '@a2a-js/sdk/server';
import { type AnswerKind, CHUNKS, chunkText, nextTurn } from '../workloads.js';
import { artifact, begin, part, publishChunk, reply, status, textOf } from './peer-events.js';
import type { Execute } from './peer-server.js';

const finish: Execute = (context, bus) => {
  begin(context, bus);
  publishChunk(context, bus, { ...artifact('response'), parts: [part(textOf(context.userMessage))] });
  bus.publish(AgentEvent.statusUpdate(status(context, TaskState.TASK_STATE_COMPLETED)));
};

/** The agents of the peer, which do the same as ours. */
export const EXECUTORS: { readonly [Kind in AnswerKind]: Execute } = {
  call: ({ userMessage, contextId }, bus) => {
    bus.publish(AgentEvent.message(reply(textOf(userMessage), contextId)));
  },
  task: finish,
  get: finish,
  list: finish,
  stream: async (context, bus) => {
    begin(context, bus);
    const about = artifact('response');
    for (let index = 0; index < CHUNKS; index++) {
      await nextTurn();
      publishChunk(context, bus, { ...about, parts: [part(chunkText(index))] }, index > 0);
    }
    bus.publish(AgentEvent.statusUpdate(status(context, TaskState.TASK_STATE_COMPLETED)));
  },
};
