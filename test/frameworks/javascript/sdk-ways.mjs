// The two ways to call an agent with an official SDK: `sendMessage` and `sendMessageStream`. Both lines of the SDK give
// tasks and events, and leave it to their user to join texts. Their drivers turn them into JSON of 1.0.

/**
 * The ways of one SDK. `connect` makes a client from the url of an agent, `send` resolves to an answer, `stream` yields
 * events, `cancel` resolves to a task. All of it is JSON of 1.0 with states in lower case.
 */
export function sdkWays({ connect, send, stream, cancel }) {
  const whole = async (client, message) => read(await send(client, message));

  /** Follows a stream as the protocol says: `append` adds to an artifact, any other update replaces it. */
  const followed = async (client, message, seen = () => {}) => {
    let task = { artifacts: [] };
    let streamed = '';
    for await (const event of stream(client, message)) {
      if (event.message !== undefined) return withStreamed(read(event), textOf(event.message.parts));
      if (event.task !== undefined) task = { artifacts: [], ...event.task };
      if (event.statusUpdate !== undefined) task.status = event.statusUpdate.status;
      if (event.artifactUpdate !== undefined) {
        const { artifact, append } = event.artifactUpdate;
        const known = task.artifacts.find(({ artifactId }) => artifactId === artifact.artifactId);
        if (known === undefined) task.artifacts.push(artifact);
        else known.parts = append ? [...known.parts, ...artifact.parts] : artifact.parts;
        streamed += textOf(artifact.parts);
      }
      seen(task.id);
    }
    return withStreamed(read({ task }), streamed);
  };

  const way = (call) => async (request) => {
    const client = await connect(request.url);
    if (request.case === 'cancel') return canceled(client, request);
    const first = await call(client, { text: request.prompt, file: request.file });
    if (request.case !== 'multi-turn') return first.result;
    const second = await call(client, { text: request.reply, ...first.task });
    return { ...second.result, question: first.said };
  };

  const canceled = async (client, { prompt }) => {
    let canceling;
    await followed(client, { text: prompt }, (id) => {
      canceling ??= id && cancel(client, id);
    });
    return { state: (await canceling).status.state };
  };
  return { sendMessage: way(whole), sendMessageStream: way(followed) };
}

const textOf = (parts = []) => parts.map(({ text = '' }) => text).join('');

const withStreamed = ({ result, ...answer }, streamed) => ({ ...answer, result: { ...result, streamed } });

/** Reads an answer as a user of the SDK does: its result, the task for another turn, and the message of the task. */
function read({ task, message }) {
  if (message !== undefined) return { result: { text: textOf(message.parts) } };
  const { state, message: saying } = task.status;
  const said = textOf(saying?.parts);
  const parts = (task.artifacts ?? []).flatMap((artifact) => artifact.parts ?? []);
  const files = parts.filter(({ raw, url }) => raw ?? url).map(fileOf);
  return {
    result: { text: textOf(parts), files, state, ...(state === 'failed' && { failed: said || true }) },
    task: { taskId: task.id, contextId: task.contextId },
    said,
  };
}

const fileOf = ({ raw, url, filename, mediaType }) => ({ name: filename, mediaType, bytes: raw, url });
