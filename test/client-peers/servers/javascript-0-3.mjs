// The 0.3 line of the official JavaScript SDK as a server, set up as its documentation does.
import * as sdk from 'a2a-js-sdk-0.3/server';
import * as hosting from 'a2a-js-sdk-0.3/server/express';
import * as overGrpc from 'a2a-js-sdk-0.3/server/grpc';
import { DESCRIBED, grpcAddress, serve, url } from './boot.mjs';

const card = {
  ...DESCRIBED,
  name: 'JavaScript 0.3 peer',
  description: 'An agent on the 0.3 line of the official SDK',
  protocolVersion: '0.3.0',
  url: `${url}/jsonrpc`,
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [
    { url: `${url}/jsonrpc`, transport: 'JSONRPC' },
    { url: `${url}/rest`, transport: 'HTTP+JSON' },
    { url: grpcAddress, transport: 'GRPC' },
  ],
  capabilities: { streaming: true, pushNotifications: true },
  supportsAuthenticatedExtendedCard: true,
};

const ENDS = new Set(['completed', 'failed', 'canceled', 'input-required']);
const messageOf = (text, ids) => ({
  kind: 'message',
  messageId: crypto.randomUUID(),
  role: 'agent',
  parts: [{ kind: 'text', text }],
  ...ids,
});

/** The stage of a scenario in terms of this SDK. */
function stageOf({ taskId, contextId, userMessage, task }, bus) {
  const statusOf = (state, text) => ({
    state,
    ...(text !== undefined && { message: messageOf(text, { taskId, contextId }) }),
    timestamp: new Date().toISOString(),
  });
  return {
    text: userMessage.parts.map((part) => part.text).join(''),
    isFollowUp: task !== undefined,
    reply: (text) => bus.publish(messageOf(text, { contextId })),
    resume() {},
    begin: () =>
      bus.publish({ kind: 'task', id: taskId, contextId, status: statusOf('submitted'), history: [userMessage] }),
    status(name, text) {
      const state = name.toLowerCase().replace('_', '-');
      bus.publish({
        kind: 'status-update',
        taskId,
        contextId,
        status: statusOf(state, text),
        final: ENDS.has(state),
      });
    },
    artifact(text, { append = false, last = false } = {}) {
      const artifact = { artifactId: 'result', name: 'result', parts: [{ kind: 'text', text }] };
      bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, append, lastChunk: last });
    },
  };
}

serve({ card, stageOf, sdk, hosting, overGrpc, buses: new sdk.DefaultExecutionEventBusManager() });
