// A file that the caller uploads, or sends as a large raw part, reaches the model of each SDK as bytes.
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { Agent } from '@openai/agents';
import { assistantMessage, ScriptedModel } from '@openai/agents/testing';
import { MockLanguageModelV4 } from 'ai/test';
import { afterEach, describe, expect, it } from 'vitest';
import { streamTextAgent } from '../../packages/ai-sdk/src/index.js';
import { langGraphAgent } from '../../packages/langgraph/src/index.js';
import { openAIAgent } from '../../packages/openai-agents/src/index.js';
import { connect } from '../../packages/parley/src/exports/client.js';
import { fileTransfer, memoryFileStore } from '../../packages/parley/src/exports/files.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import { finish, step, text } from '../ai-sdk/model-parts.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** An agent on a model that answers each message, and what the model has got with its last call, as JSON. */
interface SeenAgent {
  readonly agent: AgentExecutor;
  readonly readPrompt: () => string;
}

function ofAiSdk(options: { readonly fileBytes?: number }): SeenAgent {
  const model = new MockLanguageModelV4({
    doStream: async () => step(text(['ok']), finish()),
  });
  const readPrompt = () => JSON.stringify(model.doStreamCalls.at(-1)?.prompt);
  return { agent: streamTextAgent({ model, conversation: options }), readPrompt };
}

function ofOpenAi(options: { readonly fileBytes?: number }): SeenAgent {
  const model = new ScriptedModel([[assistantMessage('ok')], [assistantMessage('ok')], [assistantMessage('ok')]]);
  const readPrompt = () => JSON.stringify(model.lastCall?.request.input);
  return { agent: openAIAgent({ agent: new Agent({ name: 'A', model }), ...options }), readPrompt };
}

function ofLangGraph(options: { readonly fileBytes?: number }): SeenAgent {
  let last: readonly BaseMessage[] = [];
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', ({ messages }) => {
      last = messages;
      return { messages: [new AIMessage('ok')] };
    })
    .addEdge(START, 'model')
    .addEdge('model', END)
    .compile();
  return { agent: langGraphAgent({ graph, ...options }), readPrompt: () => JSON.stringify(last) };
}

async function serveAgent(agent: AgentExecutor) {
  const server = createA2AServer({ agent, files: fileTransfer({ store: memoryFileStore(), inlineBytes: 100 }) });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const client = await connect(url);
  closers.push(async () => client.close());
  return { url, client };
}

const content = 'The large content of a file. '.repeat(20);
const bytes = Buffer.from(content).toString('base64');
const mediaType = 'text/plain';

describe.each([
  ['the AI SDK', ofAiSdk],
  ['OpenAI Agents', ofOpenAi],
  ['LangGraph', ofLangGraph],
])('a model of %s', (_, make) => {
  it('gets a large raw part as bytes, also in later turns', async () => {
    const { agent, readPrompt } = make({});
    const { client } = await serveAgent(agent);
    const first = await client.sendMessage({ message: { parts: [{ raw: bytes, filename: 'a.txt', mediaType }] } });
    if (first.task === undefined) throw new Error('no task');
    expect(readPrompt()).toContain(bytes);
    const { contextId = '' } = first.task;
    await client.sendMessage({ message: { contextId, parts: [{ text: 'And now?' }] } });
    expect(readPrompt()).toContain('And now?');
    expect(readPrompt()).toContain(bytes);
  });

  it('gets an uploaded file as bytes, and the url of a file that does not fit', async () => {
    for (const [fileBytes, isRead] of [
      [content.length, true],
      [content.length - 1, false],
    ] as const) {
      const { agent, readPrompt } = make({ fileBytes });
      const { client } = await serveAgent(agent);
      const raw = { raw: bytes, filename: 'a.txt', mediaType };
      await client.sendMessage({ message: { parts: [{ text: 'Look' }, raw] } });
      expect(readPrompt().includes(bytes)).toBe(isRead);
      expect(/\/files\/[0-9a-f]{32}/.test(readPrompt())).toBe(!isRead);
    }
  });

  it('gets the urls of other servers, which nobody fetches', async () => {
    const { agent, readPrompt } = make({});
    const { client } = await serveAgent(agent);
    const url = 'http://127.0.0.1:9/a2a/files/00000000000000000000000000000000';
    await client.sendMessage({ message: { parts: [{ text: 'Look' }, { url, mediaType }] } });
    expect(readPrompt()).toContain(url);
  });
});
