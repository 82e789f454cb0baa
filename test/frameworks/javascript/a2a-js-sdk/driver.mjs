// The official JavaScript SDK of 1.0, with the client that its factory makes from a card.
import { randomUUID } from 'node:crypto';
import { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { runDriver, versionOf } from '../driver-protocol.mjs';
import { sdkWays } from '../sdk-ways.mjs';

function requestOf({ text, file, taskId, contextId }) {
  const parts = [{ text }];
  if (file !== undefined) parts.push({ raw: file.bytes, filename: file.name, mediaType: file.mediaType });
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts, taskId, contextId };
  return SendMessageRequest.fromJSON({ message, configuration: {} });
}

const status = ({ state, ...rest }) => ({
  ...rest,
  state: state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-'),
});
const taskOf = (task) => {
  const json = Task.toJSON(task);
  return { ...json, status: status(json.status) };
};

await runDriver({
  version: versionOf('@a2a-js/sdk', import.meta.url),
  ways: sdkWays({
    connect: (url) => new ClientFactory().createFromUrl(`${url}/.well-known/agent-card.json`, ''),
    async send(client, message) {
      const answer = await client.sendMessage(requestOf(message));
      return 'messageId' in answer ? { message: Message.toJSON(answer) } : { task: taskOf(answer) };
    },
    async *stream(client, message) {
      for await (const event of client.sendMessageStream(requestOf(message))) {
        const { task, statusUpdate, ...other } = StreamResponse.toJSON(event);
        if (task !== undefined) yield { task: { ...task, status: status(task.status) } };
        else if (statusUpdate !== undefined) yield { statusUpdate: { status: status(statusUpdate.status) } };
        else yield other;
      }
    },
    cancel: async (client, id) => taskOf(await client.cancelTask({ id, tenant: '', metadata: undefined })),
  }),
});
