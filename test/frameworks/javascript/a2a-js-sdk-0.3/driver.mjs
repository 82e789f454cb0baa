// The 0.3 line of the official JavaScript SDK, with the client that its factory makes from a card.
import { randomUUID } from 'node:crypto';
import { ClientFactory } from 'a2a-js-sdk-0.3/client';
import { runDriver, versionOf } from '../driver-protocol.mjs';
import { sdkWays } from '../sdk-ways.mjs';

function paramsOf({ text, file, taskId, contextId }) {
  const parts = [{ kind: 'text', text }];
  if (file !== undefined) {
    parts.push({ kind: 'file', file: { bytes: file.bytes, name: file.name, mimeType: file.mediaType } });
  }
  return { message: { kind: 'message', messageId: randomUUID(), role: 'user', parts, taskId, contextId } };
}

const MEMBERS = {
  task: 'task',
  message: 'message',
  'status-update': 'statusUpdate',
  'artifact-update': 'artifactUpdate',
};

/** An answer or event of 0.3 as JSON of 1.0. */
const read = (value) => ({ [MEMBERS[value.kind]]: withParts(value) });

/** A value with all parts in it, at any depth, in the form of 1.0. */
function withParts(value) {
  if (Array.isArray(value)) return value.map(withParts);
  if (typeof value !== 'object' || value === null) return value;
  if (value.kind === 'file') {
    const { bytes, uri, name, mimeType } = value.file;
    return { raw: bytes, url: uri, filename: name, mediaType: mimeType };
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withParts(member)]));
}

await runDriver({
  version: versionOf('a2a-js-sdk-0.3', import.meta.url),
  ways: sdkWays({
    connect: (url) => new ClientFactory().createFromUrl(`${url}/.well-known/agent-card.json`, ''),
    send: async (client, message) => read(await client.sendMessage(paramsOf(message))),
    async *stream(client, message) {
      for await (const event of client.sendMessageStream(paramsOf(message))) yield read(event);
    },
    cancel: async (client, id) => withParts(await client.cancelTask({ id })),
  }),
});
