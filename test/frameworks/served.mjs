// Our client, as it is built, against the agent that a framework serves.
import { connect, textOf } from 'parley-a2a/client';

/** Plays a case. Resolves to a result as the drivers give it. */
export async function callServed(name, url, { prompt, request = {} }) {
  const client = await connect(url);
  try {
    return await PLAYS[name](client, prompt, request);
  } finally {
    client.close();
  }
}

const shown = (answer) => ('task' in answer ? taskText(answer.task) : textOf(answer.message));
/** Some frameworks put their answer into the message of the status. */
const taskText = (task) => textOf(task) || (task.status.message === undefined ? '' : textOf(task.status.message));

const PLAYS = {
  text: async (client, prompt) => ({ text: shown(await client.ask(prompt)) }),

  async stream(client, prompt) {
    const stream = client.sendStreamingMessage(prompt);
    const artifacts = new Map();
    let said = '';
    for await (const event of stream) {
      if ('artifactUpdate' in event) {
        const { artifact, append } = event.artifactUpdate;
        artifacts.set(
          artifact.artifactId,
          (append ? (artifacts.get(artifact.artifactId) ?? '') : '') + textOf(artifact),
        );
      }
      if ('message' in event) said += textOf(event.message);
      if ('statusUpdate' in event && event.statusUpdate.status.message)
        said += textOf(event.statusUpdate.status.message);
    }
    const streamed = [...artifacts.values()].join('') || said;
    return { text: stream.taskId === undefined ? streamed : taskText(await client.getTask(stream.taskId)), streamed };
  },

  async 'multi-turn'(client, prompt, { reply }) {
    const asked = await client.ask(prompt);
    if (!('task' in asked)) return { question: shown(asked), text: '' };
    const { id: taskId, contextId, status } = asked.task;
    const question = status.message === undefined ? '' : textOf(status.message);
    const text = shown(await client.ask({ message: { taskId, contextId, parts: [{ text: reply }] } }));
    return { question, text };
  },

  async cancel(client, prompt) {
    const answer = await client.sendMessage({
      message: { parts: [{ text: prompt }] },
      configuration: { returnImmediately: true },
    });
    if (!('task' in answer)) return { state: 'a message' };
    await client.cancelTask(answer.task.id);
    return { state: (await client.waitFor(answer.task.id, { timeoutMs: 10_000 })).status.state };
  },

  async 'file-out'(client, prompt) {
    const answer = await client.ask(prompt);
    const parts = 'task' in answer ? (answer.task.artifacts ?? []).flatMap(({ parts }) => parts) : answer.message.parts;
    const files = parts.map(({ filename, mediaType, raw, url }) => ({ name: filename, mediaType, bytes: raw, url }));
    return { files };
  },

  async 'file-in'(client, prompt, { file }) {
    const attached = { raw: file.bytes, filename: file.name, mediaType: file.mediaType };
    return { text: shown(await client.ask({ message: { parts: [{ text: prompt }, attached] } })) };
  },

  async failure(client, prompt) {
    try {
      const answer = await client.ask(prompt);
      return { text: shown(answer), failed: 'task' in answer && answer.task.status.state === 'TASK_STATE_FAILED' };
    } catch (error) {
      return { failed: error.message };
    }
  },
};
