// The Agent Development Kit for JavaScript: `RemoteA2AAgent` in a session and as the tool of another agent, and a
// server that its `toA2a` makes. Models are scripted.
import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  AgentTool,
  BaseLlm,
  InMemorySessionService,
  isFinalResponse,
  LlmAgent,
  RemoteA2AAgent,
  Runner,
  requestInputTool,
  StreamingMode,
  stringifyContent,
  toA2a,
} from '@google/adk';
import { runDriver, versionOf } from '../driver-protocol.mjs';

const remoteAt = (url) => new RemoteA2AAgent({ name: 'remote', description: 'Answers', agentCard: `${url}/` });

/** A model that answers with what a function yields for a request. */
class ScriptedModel extends BaseLlm {
  constructor(script) {
    super({ model: 'scripted' });
    this.script = script;
  }

  async *generateContentAsync(request) {
    yield* this.script(request.contents.at(-1)?.parts ?? []);
  }

  connect() {
    throw new Error('The scripted model has no live connection');
  }
}

const said = (...parts) => ({ content: { role: 'model', parts } });

/** A session with an agent, from a message to what it shows. */
async function openSession(agent) {
  const sessionService = new InMemorySessionService();
  const runner = new Runner({ appName: 'frameworks', agent, sessionService });
  const { id: sessionId } = await sessionService.createSession({ appName: 'frameworks', userId: 'user' });
  return async (parts) => {
    const run = runner.runAsync({
      userId: 'user',
      sessionId,
      newMessage: { role: 'user', parts },
      runConfig: { streamingMode: StreamingMode.SSE },
    });
    const shown = { text: '', streamed: '', files: [] };
    let delta = '';
    for await (const event of run) {
      if (event.errorMessage !== undefined) shown.failed = event.errorMessage;
      if (event.partial) delta += stringifyContent(event);
      if (!isFinalResponse(event) || event.content === undefined) continue;
      // A final event stands for the partial events before it.
      shown.text += stringifyContent(event);
      shown.streamed += stringifyContent(event);
      delta = '';
      shown.files.push(...event.content.parts.flatMap(filesOf));
    }
    return { ...shown, streamed: shown.streamed + delta };
  };
}

function filesOf({ inlineData, fileData }) {
  if (inlineData !== undefined) {
    return [{ name: inlineData.displayName, mediaType: inlineData.mimeType, bytes: inlineData.data }];
  }
  if (fileData !== undefined)
    return [{ name: fileData.displayName, mediaType: fileData.mimeType, url: fileData.fileUri }];
  return [];
}

async function play(agent, { case: name, prompt, reply, file }) {
  const send = await openSession(agent);
  const parts = [{ text: prompt }];
  if (file !== undefined) {
    parts.push({ inlineData: { data: file.bytes, mimeType: file.mediaType, displayName: file.name } });
  }
  const first = await send(parts);
  return name === 'multi-turn' ? { ...(await send([{ text: reply }])), question: first.text } : first;
}

/** A model that hands each message to its only tool, and then repeats the answer of the tool. */
async function* delegating(parts) {
  const answered = parts.find(({ functionResponse }) => functionResponse !== undefined);
  if (answered === undefined) yield said({ functionCall: { name: 'remote', args: { request: parts[0].text } } });
  else yield said({ text: answered.functionResponse.response.result });
}

/** The model of the served agent. The text of the prompt chooses what it does. */
async function* served(parts) {
  const [{ text }] = parts;
  const file = parts.find(({ inlineData }) => inlineData !== undefined)?.inlineData;
  if (text === 'stream') {
    for (const chunk of ['Served: ', 'one ', 'two ', 'three']) yield { ...said({ text: chunk }), partial: true };
    yield said({ text: 'Served: one two three' });
  } else if (text === 'file') {
    const data = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');
    yield said({ inlineData: { data, mimeType: 'application/x-served', displayName: 'served.bin' } });
  } else if (text === 'read') {
    const bytes = Buffer.from(file?.data ?? '', 'base64');
    yield said({ text: `${file?.displayName} ${file?.mimeType} ${bytes.length}` });
  } else if (text === 'question') {
    yield said({ functionCall: { name: requestInputTool.name, args: { message: 'Which day?' } } });
  } else if (text === 'wait') await new Promise(() => {});
  else if (text === 'fail') throw new Error('The oven is cold.');
  else yield said({ text: `Served: ${text}` });
}

async function serve() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const agent = new LlmAgent({
    name: 'served',
    description: 'Answers',
    model: new ScriptedModel(served),
    tools: [requestInputTool],
  });
  server.on('request', await toA2a(agent, { host: '127.0.0.1', port, allowUnauthenticated: true }));
  return `http://127.0.0.1:${port}`;
}

await runDriver({
  version: versionOf('@google/adk', import.meta.url),
  ways: {
    session: (request) => play(remoteAt(request.url), request),
    'agent-tool'(request) {
      const tools = [new AgentTool({ agent: remoteAt(request.url) })];
      return play(new LlmAgent({ name: 'caller', model: new ScriptedModel(delegating), tools }), request);
    },
  },
  serve,
});
