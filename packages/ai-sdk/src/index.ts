import type { AgentCard, ConnectOptions } from 'parley-a2a';
import type { Client, InProcessPath } from 'parley-a2a/client';
import { BY_VERB, LoadedOnDemand, OptionsError, refuseArgument } from 'parley-a2a/kit';
import type { InProcessAgent } from 'parley-a2a/server';
import { type A2ALanguageModel, type A2ALanguageModelOptions, agentLanguageModel } from './a2a-language-model.js';
import { type A2ATool, type A2AToolOptions, agentTool } from './a2a-tool.js';
import { type A2AChatHandlerOptions, chatHandler } from './chat-handler.js';
import { type A2AChatTransport, type A2AChatTransportOptions, chatTransport } from './chat-transport.js';
import { type StreamedText, type StreamTextTurn, fromStreamText as writeStreamText } from './from-stream-text.js';

export type { A2ALanguageModel, A2ALanguageModelOptions } from './a2a-language-model.js';
export type {
  A2ATool,
  A2AToolFile,
  A2AToolInput,
  A2AToolOptions,
  A2AToolOutput,
} from './a2a-tool.js';
export type { A2AChatPlace, A2AChatPlaces } from './agent-chat.js';
export { toAiTools } from './ai-tools.js';
export type { A2AChatAuthorization, A2AChatData, A2AChatMessage, A2AChatMetadata } from './chat-chunks.js';
export type { A2AChatHandlerOptions } from './chat-handler.js';
export type { A2AChatTransport, A2AChatTransportOptions } from './chat-transport.js';
export {
  asksAgain,
  type ShownOptions,
  type StreamedText,
  type StreamTextTurn,
} from './from-stream-text.js';
export { type ModelMessagesOptions, toModelMessages } from './model-messages.js';
export { MODEL_OUTPUT_EXTENSION } from './model-output.js';
export {
  type StreamTextAgentBehavior,
  type StreamTextAgentOptions,
  type StreamTextAgentSource,
  streamTextAgent,
} from './stream-text-agent.js';

/**
 * Turns the result of `streamText` into the events of a task, and ends the task. Text becomes one artifact that grows.
 * Each step of the model is a status. Calls that need an approval make the task INPUT_REQUIRED. Resolves early if the
 * turn is aborted, even if the model continues.
 * @throws the error of the model. The engine then fails the task, without the text of the error.
 */
export function fromStreamText(result: StreamedText, turn: StreamTextTurn): Promise<void> {
  return checkedStreamText(result, turn);
}

async function checkedStreamText(result: StreamedText, turn: StreamTextTurn): Promise<void> {
  if (Object(result).fullStream === undefined) refuseArgument('fromStreamText', 'the result of streamText()', result);
  return writeStreamText(result, turn);
}

/** An agent to call: a client, a url, a card, or a server object of the same process. */
export type CalledAgent = Client | string | AgentCard | InProcessAgent;

/** Settings for the connection to the agent, which a client has already. */
export interface ConnectionOptions {
  readonly connection?: ConnectOptions & InProcessPath;
}

/**
 * An agent as a tool of the AI SDK, for `generateText` and `streamText`. Finds the card of the agent, whose description
 * goes to the model unless the options have one. An abort cancels the task of the agent.
 * @throws AgentCardError if no card is found.
 */
export async function a2aTool(
  agent: CalledAgent,
  { connection, ...options }: A2AToolOptions & ConnectionOptions = {},
): Promise<A2ATool> {
  return agentTool(await clientOf(agent, connection), options);
}

/**
 * Makes a language model of the AI SDK from an agent. The first call finds the card. A call continues the context of
 * the last answer among its messages, and also its task if that needs input. `providerOptions.a2a` overrides both.
 */
export function a2aLanguageModel(
  agent: CalledAgent,
  { connection, ...options }: A2ALanguageModelOptions & ConnectionOptions = {},
): A2ALanguageModel {
  checkAgent('a2aLanguageModel', agent);
  return agentLanguageModel({ modelId: nameOf(agent), client: clientSource(agent, connection) }, options);
}

/** Agents as the language models of a provider. */
interface A2AProvider {
  readonly specificationVersion: 'v4';
  /** @throws OptionsError for a name that no agent has. */
  languageModel(name: string): A2ALanguageModel;
  /** @throws OptionsError always: agents are language models only. */
  embeddingModel(name: string): never;
  /** @throws OptionsError always: agents are language models only. */
  imageModel(name: string): never;
}

/**
 * Agents by name as a provider of the AI SDK, such as for `createProviderRegistry`. Each model is that of
 * `a2aLanguageModel`, with the same settings.
 */
export function a2aProvider(
  agents: Readonly<Record<string, CalledAgent>>,
  options: Omit<A2ALanguageModelOptions, 'modelId'> & ConnectionOptions = {},
): A2AProvider {
  if (Object(agents) !== agents) refuseArgument('a2aProvider', 'an object of agents by name', agents);
  const refuse = (kind: string) => (name: string) => {
    throw new OptionsError('a2aProvider', [`no agent is the ${kind} ${name}`]);
  };
  const refuseLanguageModel = refuse('language model');
  return {
    specificationVersion: 'v4',
    languageModel(name) {
      const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
      return agent === undefined ? refuseLanguageModel(name) : a2aLanguageModel(agent, { ...options, modelId: name });
    },
    embeddingModel: refuse('embedding model'),
    imageModel: refuse('image model'),
  };
}

/**
 * Makes a transport that calls an agent from the page: `useChat({ transport: a2aChatTransport(url) })`. A chat is a
 * context of the agent. Its answers show text, reasoning, files, calls of tools and their approvals. `stop()` cancels
 * the task. After a reload, `resumeStream()` repeats an unfinished answer from its beginning, and continues it.
 */
export function a2aChatTransport(
  agent: CalledAgent,
  { connection, ...options }: A2AChatTransportOptions & ConnectionOptions = {},
): A2AChatTransport {
  checkAgent('a2aChatTransport', agent);
  return chatTransport(clientSource(agent, connection), options);
}

/**
 * Makes an endpoint of a server for `useChat` with the `DefaultChatTransport` of the AI SDK. POST: the stream of an
 * answer. GET of `/‹id›/stream`: an answer from its beginning, or 204 if it ended some time ago. DELETE of the same
 * path cancels the task. A browser that disconnects does not.
 * @throws OptionsError for an unknown option.
 */
export function a2aChatHandler(
  agent: CalledAgent,
  { connection, ...options }: A2AChatHandlerOptions & ConnectionOptions = {},
): (request: Request) => Promise<Response> {
  checkAgent('a2aChatHandler', agent);
  return chatHandler(clientSource(agent, connection), options);
}

function checkAgent(name: string, agent: unknown): void {
  if (typeof agent !== 'string' && Object(agent) !== agent)
    refuseArgument(name, 'a client, a url, a card or a server', agent);
}

/** Returns a function that makes the client at its first call. */
function clientSource(agent: CalledAgent, connection: ConnectionOptions['connection']): () => Promise<Client> {
  const client = new LoadedOnDemand(() => clientOf(agent, connection));
  return () => client.get();
}

async function clientOf(agent: CalledAgent, options: ConnectionOptions['connection'] = {}): Promise<Client> {
  if (Object(agent) === agent && BY_VERB.send in (agent as object)) return agent as Client;
  const { connect } = await import('parley-a2a/client');
  return connect(agent as Exclude<CalledAgent, Client>, options);
}

function nameOf(agent: CalledAgent): string {
  if (typeof agent === 'string') return agent;
  if (BY_VERB.send in agent) return agent.card.name;
  return 'name' in agent ? agent.name : 'agent';
}
