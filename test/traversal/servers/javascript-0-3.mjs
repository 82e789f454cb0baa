// A traversal agent on the 0.3 line of the official JavaScript SDK.
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { fileDesc } from '@bufbuild/protobuf/codegenv2';
import grpc from '@grpc/grpc-js';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'a2a-js-sdk-0.3/client';
import { GrpcTransportFactory } from 'a2a-js-sdk-0.3/client/grpc';
import * as sdk from 'a2a-js-sdk-0.3/server';
import * as hosting from 'a2a-js-sdk-0.3/server/express';
import * as overGrpc from 'a2a-js-sdk-0.3/server/grpc';
import express from 'express';

const { PORT, GRPC_PORT, INSTRUCTION_DESCRIPTOR } = process.env;
const url = `http://127.0.0.1:${PORT}`;
const Instruction = fileDesc(INSTRUCTION_DESCRIPTOR).messages.find(({ name }) => name === 'Instruction');
const BINDINGS = { jsonrpc: 'JSONRPC', grpc: 'GRPC', http_json: 'HTTP+JSON' };
const FINISHED = 'task-finished';

const card = {
  name: 'JavaScript 0.3 traversal agent',
  description: 'A traversal agent on the 0.3 line of the official SDK',
  version: '1.0.0',
  protocolVersion: '0.3.0',
  url: `${url}/jsonrpc`,
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [
    { url: `${url}/jsonrpc`, transport: 'JSONRPC' },
    { url: `${url}/rest`, transport: 'HTTP+JSON' },
    { url: `127.0.0.1:${GRPC_PORT}`, transport: 'GRPC' },
  ],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'traversal', name: 'Traversal', description: 'Follows instructions', tags: ['test'] }],
  capabilities: { streaming: true, pushNotifications: true },
};

/**
 * Events with their data on one line: the client takes each line for an event, and the Python SDK sends several. The
 * client subscribes with POST, and the Python SDK takes GET only.
 */
async function fetchImpl(url, init) {
  const isSubscription = String(url).endsWith(':subscribe');
  const response = await fetch(url, isSubscription ? { ...init, method: 'GET', body: undefined } : init);
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response;
  let held = '';
  const joined = new TransformStream({
    transform(text, out) {
      held += text;
      const events = held.split(/\r?\n\r?\n/);
      held = events.pop();
      for (const event of events) {
        const data = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
        if (data.length > 0) out.enqueue(`data: ${data.map((line) => line.slice(5).trim()).join('')}\n\n`);
      }
    },
  });
  const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(joined);
  return new Response(body.pipeThrough(new TextEncoderStream()), response);
}

async function call({ transport, agentCardUri, instruction, streaming, pushNotification, resubscribe }) {
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory(), new RestTransportFactory({ fetchImpl }), new GrpcTransportFactory()],
      preferredTransports: [BINDINGS[transport]],
      cardResolver: new DefaultAgentCardResolver(),
    }),
  );
  const client = await factory.createFromUrl(agentCardUri, '');
  // The Python SDK of 0.3 takes the bytes of a file for text, over HTTP+JSON and gRPC.
  const text = Buffer.from(toBinary(Instruction, fromJson(Instruction, instruction))).toString('base64');
  const parts = [{ kind: 'text', text }];
  const webhook = pushNotification && { url: `${pushNotification.url}/notifications`, token: 'itk-token' };
  const request = {
    message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts },
    configuration: { blocking: true, ...(webhook && { pushNotificationConfig: webhook }) },
  };
  if (resubscribe !== undefined) return resubscribed(client, request);
  if (!streaming) return eventTexts(await client.sendMessage(request));
  const texts = [];
  for await (const event of client.sendMessageStream(request)) texts.push(...eventTexts(event));
  return texts;
}

async function resubscribed(client, request) {
  let id;
  for await (const event of client.sendMessageStream(request)) {
    id = event.kind === 'task' ? event.id : event.taskId;
    break;
  }
  const texts = [];
  for await (const event of client.resubscribeTask({ id })) {
    texts.push(...eventTexts(event));
    if (texts.some((text) => text.includes(FINISHED))) break;
  }
  await client.cancelTask({ id }).catch((error) => {
    // The task may have ended meanwhile.
    if (!/cannot be canceled/i.test(String(error))) throw error;
  });
  return texts.map((text) => text.replaceAll(FINISHED, '').trim());
}

const textsOf = (message) => message?.parts?.flatMap(({ text }) => (text === undefined ? [] : [text])) ?? [];
const eventTexts = (event) => textsOf(event.kind === 'message' ? event : event.status?.message);

async function run({ returnResponse, callAgent, steps }) {
  if (returnResponse) return [returnResponse.response];
  if (callAgent) return call(callAgent);
  const texts = [];
  for (const step of steps.instructions) texts.push(...(await run(step)));
  return texts;
}

const holds = ({ returnResponse, callAgent, steps }) =>
  returnResponse?.holdTask === true ||
  (callAgent !== undefined && holds(callAgent.instruction)) ||
  (steps?.instructions ?? []).some(holds);

const canceled = new Set();
const executor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const status = (state, text) => {
      const ids = { kind: 'message', messageId: crypto.randomUUID(), contextId, taskId, role: 'agent' };
      const message = text === undefined ? undefined : { ...ids, parts: [{ kind: 'text', text }] };
      return { state, message, timestamp: new Date().toISOString() };
    };
    const say = (state, text, final = false) =>
      bus.publish({ kind: 'status-update', taskId, contextId, status: status(state, text), final });
    bus.publish({ kind: 'task', id: taskId, contextId, status: status('submitted'), history: [userMessage] });
    say('working');
    try {
      const { file, text: encoded = file.bytes } = userMessage.parts[0];
      const instruction = toJson(Instruction, fromBinary(Instruction, Buffer.from(encoded, 'base64')));
      const text = (await run(instruction)).join('\n');
      if (holds(instruction)) {
        say('working', `${text}\n${FINISHED}`);
        for (let step = 0; step < 5 && !canceled.has(taskId); step++) {
          await delay(2000);
          if (!canceled.has(taskId)) say('working');
        }
      }
      if (!canceled.has(taskId)) say('completed', text, true);
    } catch (error) {
      say('failed', error.stack, true);
    }
    bus.finished();
  },
  async cancelTask(taskId, bus) {
    canceled.add(taskId);
    const status = { state: 'canceled', timestamp: new Date().toISOString() };
    bus.publish({ kind: 'status-update', taskId, contextId: '', status, final: true });
    bus.finished();
  },
};

const pushStore = new sdk.InMemoryPushNotificationStore();
const requestHandler = new sdk.DefaultRequestHandler(
  card,
  new sdk.InMemoryTaskStore(),
  executor,
  undefined,
  pushStore,
  new sdk.DefaultPushNotificationSender(pushStore),
);
const handling = { requestHandler, userBuilder: hosting.UserBuilder.noAuthentication };
const app = express();
app.use('/.well-known/agent-card.json', hosting.agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/jsonrpc', hosting.jsonRpcHandler(handling));
app.use('/rest', hosting.restHandler(handling));
const server = new grpc.Server();
const service = overGrpc.grpcService({ requestHandler, userBuilder: overGrpc.UserBuilder.noAuthentication });
server.addService(overGrpc.A2AService, service);
server.bindAsync(`127.0.0.1:${GRPC_PORT}`, grpc.ServerCredentials.createInsecure(), () => {
  createServer(app).listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
});
