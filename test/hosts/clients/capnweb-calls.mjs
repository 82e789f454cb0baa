import { connect } from 'parley-a2a/client';
import { bearerToken } from 'parley-a2a/credentials';
import { capnwebTransport } from 'parley-a2a-capnweb';

/**
 * The calls of a client over Cap'n Web on every runtime, with options as JSON. It authenticates in band, streams
 * through connections that are reset, cancels a task, and sends a file.
 */
export async function calls({ card, token, attempts = 50 }) {
  const quick = { attempts, firstMs: 1, longestMs: 5 };
  const bindings = [capnwebTransport()];
  const client = await connect(card, { bindings, credentials: bearerToken(token), resume: quick, retry: quick });
  const echo = await client.ask('hello');
  const numbers = [];
  const stream = client.sendStreamingMessage('count 300');
  for await (const event of stream)
    if ('artifactUpdate' in event) numbers.push(event.artifactUpdate.artifact.parts[0].text);
  const waiting = client.sendStreamingMessage('wait');
  let canceled;
  for await (const _ of waiting) {
    if (waiting.state === 'TASK_STATE_WORKING') canceled ??= (await client.cancelTask(waiting.taskId)).status.state;
  }
  const file = { message: { parts: [{ raw: btoa('ž'.charCodeAt(0) + 'x'.repeat(400_000)) }] } };
  const told = {
    binding: client.agentInterface.protocolBinding,
    echo: echo.task.artifacts[0].parts[0].text,
    numbers,
    breaks: stream.breaks,
    canceled,
    last: waiting.state,
    file: (await client.ask(file)).task.artifacts[0].parts[0].raw === file.message.parts[0].raw,
    missing: await nameOf(client.getTask('nothing')),
    late: await nameOf(client.sendMessage('wait', { timeoutMs: 50 })),
  };
  client.close();
  const stranger = await connect(card, { bindings, credentials: bearerToken('wrong') });
  told.stranger = await nameOf(stranger.getTask('nothing'));
  stranger.close();
  return told;
}

async function nameOf(call) {
  return call.then(
    () => 'nothing was thrown',
    ({ name }) => name,
  );
}
