// The community provider of the AI SDK for A2A, with `generateText` and `streamText`. A model of this provider is the
// card url of an agent.
import { randomUUID } from 'node:crypto';
import { a2a } from 'a2a-ai-provider';
import { generateText, streamText } from 'ai';
import { messageOf, runDriver, versionOf } from '../driver-protocol.mjs';

/** A call without retries, which would hide the first result. The chat id is the context, as the provider requires. */
function callOf({ url, prompt, file }) {
  const content = [{ type: 'text', text: prompt }];
  if (file !== undefined) {
    const data = new Uint8Array(Buffer.from(file.bytes, 'base64'));
    content.push({ type: 'file', data, mediaType: file.mediaType, filename: file.name });
  }
  return {
    model: a2a(`${url}/.well-known/agent-card.json`),
    messages: [{ role: 'user', content }],
    maxRetries: 0,
    providerOptions: { a2a: { contextId: randomUUID() } },
  };
}

const filesOf = (files) => files.map(({ base64, mediaType }) => ({ mediaType, bytes: base64 }));

async function generate(call) {
  const { text, files, finishReason } = await generateText(call);
  return { text, files: filesOf(files), ...(finishReason === 'error' && { failed: true }) };
}

async function stream(call) {
  const shown = { streamed: '' };
  const result = streamText({
    ...call,
    onError({ error }) {
      shown.failed = messageOf(error);
    },
  });
  for await (const part of result.fullStream) if (part.type === 'text-delta') shown.streamed += part.text;
  if (shown.failed !== undefined) throw new Error(shown.failed);
  const [text, files, finishReason] = await Promise.all([result.text, result.files, result.finishReason]);
  return { ...shown, text, files: filesOf(files), ...(finishReason === 'error' && { failed: true }) };
}

/** Two turns are one list of messages, as chats of the AI SDK keep it. */
const way = (play) => async (request) => {
  const call = callOf(request);
  const first = await play(call);
  if (request.case !== 'multi-turn') return first;
  const messages = [
    ...call.messages,
    { role: 'assistant', content: first.text },
    { role: 'user', content: request.reply },
  ];
  return { ...(await play({ ...call, messages })), question: first.text };
};

await runDriver({
  version: versionOf('a2a-ai-provider', import.meta.url),
  ways: { generateText: way(generate), streamText: way(stream) },
});
