// The peer under the probes.
import { TaskState } from '@a2a-js/sdk';
import { AgentEvent } from '@a2a-js/sdk/server';
import { artifact, begin, part, publishChunk, status, textOf } from './peer-events.js';
import { servePeer } from './peer-server.js';
import { probed } from './probe-agent.js';

await servePeer(async (context, bus) => {
  begin(context, bus);
  const about = artifact('response');
  await probed(textOf(context.userMessage), {
    chunk: (text, append) => publishChunk(context, bus, { ...about, parts: [part(text)] }, append),
    complete: () => bus.publish(AgentEvent.statusUpdate(status(context, TaskState.TASK_STATE_COMPLETED))),
  });
});
