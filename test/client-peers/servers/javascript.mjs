// The official JavaScript SDK as a server, set up as its documentation does.
import { AgentCard, Role, TaskState } from '@a2a-js/sdk';
import * as sdk from '@a2a-js/sdk/server';
import * as hosting from '@a2a-js/sdk/server/express';
import * as overGrpc from '@a2a-js/sdk/server/grpc';
import { DESCRIBED, grpcAddress, serve, url } from './boot.mjs';

const card = AgentCard.fromJSON({
  ...DESCRIBED,
  name: 'JavaScript peer',
  description: 'An agent on the official SDK',
  supportedInterfaces: [
    { url: `${url}/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: grpcAddress, protocolBinding: 'GRPC', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
});

const part = (text) => ({ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' });
const messageOf = ({ taskId, contextId }, text, isOfTask = true) => ({
  messageId: crypto.randomUUID(),
  contextId,
  taskId: isOfTask ? taskId : '',
  role: Role.ROLE_AGENT,
  parts: [part(text)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

/** The stage of a scenario in terms of this SDK. */
function stageOf(context, bus) {
  const { taskId, contextId, userMessage } = context;
  const statusOf = (state, text) => ({
    state: TaskState[`TASK_STATE_${state}`],
    message: text === undefined ? undefined : messageOf(context, text),
    timestamp: new Date().toISOString(),
  });
  return {
    text: userMessage.parts.map(({ content }) => content.value).join(''),
    isFollowUp: context.task !== undefined,
    reply: (text) => bus.publish(sdk.AgentEvent.message(messageOf(context, text, false))),
    // This SDK wants every stream to begin with a task.
    resume: () => bus.publish(sdk.AgentEvent.task(context.task)),
    begin() {
      const task = { id: taskId, contextId, status: statusOf('SUBMITTED'), artifacts: [], history: [userMessage] };
      bus.publish(sdk.AgentEvent.task({ ...task, metadata: undefined }));
    },
    status: (state, text) =>
      bus.publish(
        sdk.AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, text), metadata: undefined }),
      ),
    artifact(text, { append = false, last = false } = {}) {
      const artifact = { artifactId: 'result', name: 'result', description: '', parts: [part(text)], extensions: [] };
      bus.publish(
        sdk.AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: last, metadata: undefined }),
      );
    },
  };
}

serve({ card, stageOf, sdk, hosting, overGrpc });
