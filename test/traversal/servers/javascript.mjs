// A traversal agent on the official JavaScript SDK.
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentCard, Message, Role, SendMessageRequest, StreamResponse, Task, TaskState } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import * as sdk from '@a2a-js/sdk/server';
import * as hosting from '@a2a-js/sdk/server/express';
import * as overGrpc from '@a2a-js/sdk/server/grpc';
import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { fileDesc } from '@bufbuild/protobuf/codegenv2';
import grpc from '@grpc/grpc-js';
import express from 'express';

const { PORT, GRPC_PORT, INSTRUCTION_DESCRIPTOR } = process.env;
const url = `http://127.0.0.1:${PORT}`;
const Instruction = fileDesc(INSTRUCTION_DESCRIPTOR).messages.find(({ name }) => name === 'Instruction');
const BINDINGS = { jsonrpc: 'JSONRPC', grpc: 'GRPC', http_json: 'HTTP+JSON' };
const FINISHED = 'task-finished';

const card = AgentCard.fromJSON({
  name: 'JavaScript traversal agent',
  description: 'A traversal agent on the official SDK',
  version: '1.0.0',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'traversal', name: 'Traversal', description: 'Follows instructions', tags: ['test'] }],
  supportedInterfaces: [
    { url: `${url}/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: `127.0.0.1:${GRPC_PORT}`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true, pushNotifications: true },
});

async function call({ transport, agentCardUri, instruction, streaming, pushNotification, resubscribe }) {
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()],
      preferredTransports: [BINDINGS[transport]],
      cardResolver: new DefaultAgentCardResolver(),
    }),
  );
  const client = await factory.createFromUrl(agentCardUri, '');
  const bytes = toBinary(Instruction, fromJson(Instruction, instruction));
  const raw = Buffer.from(bytes).toString('base64');
  const parts = [{ raw, mediaType: 'application/x-protobuf', filename: 'instruction.bin' }];
  const webhook = pushNotification && { url: `${pushNotification.url}/notifications`, token: 'itk-token' };
  const request = SendMessageRequest.fromJSON({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts },
    ...(webhook && { configuration: { taskPushNotificationConfig: webhook } }),
  });
  if (resubscribe !== undefined) return resubscribed(client, request);
  if (!streaming) {
    const answer = await client.sendMessage(request);
    return 'messageId' in answer ? textsOf(Message.toJSON(answer)) : taskTexts(Task.toJSON(answer));
  }
  const texts = [];
  for await (const event of client.sendMessageStream(request)) texts.push(...eventTexts(StreamResponse.toJSON(event)));
  return texts;
}

async function resubscribed(client, request) {
  let id;
  for await (const event of client.sendMessageStream(request)) {
    const { task, statusUpdate } = StreamResponse.toJSON(event);
    id = task?.id ?? statusUpdate?.taskId;
    break;
  }
  const texts = [];
  for await (const event of client.resubscribeTask({ id, tenant: '' })) {
    texts.push(...eventTexts(StreamResponse.toJSON(event)));
    if (texts.some((text) => text.includes(FINISHED))) break;
  }
  await client.cancelTask({ id, tenant: '', metadata: undefined }).catch((error) => {
    // The task may have ended meanwhile.
    if (!/cannot be canceled/i.test(String(error))) throw error;
  });
  return texts.map((text) => text.replaceAll(FINISHED, '').trim());
}

const textsOf = (message) => message?.parts?.flatMap(({ text }) => (text === undefined ? [] : [text])) ?? [];
const taskTexts = ({ status }) => textsOf(status?.message);
const eventTexts = ({ task, message, statusUpdate }) =>
  task ? taskTexts(task) : statusUpdate ? textsOf(statusUpdate.status?.message) : textsOf(message);

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
  async execute(context, bus) {
    const { taskId, contextId, userMessage } = context;
    const status = (state, text) => {
      const parts = [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }];
      const ids = { messageId: crypto.randomUUID(), contextId, taskId, role: Role.ROLE_AGENT };
      const rest = { metadata: undefined, extensions: [], referenceTaskIds: [] };
      const message = text === undefined ? undefined : { ...ids, parts, ...rest };
      return { state: TaskState[`TASK_STATE_${state}`], message, timestamp: new Date().toISOString() };
    };
    const say = (state, text) =>
      bus.publish(sdk.AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: undefined }));
    const submitted = { status: status('SUBMITTED'), artifacts: [], history: [userMessage], metadata: undefined };
    bus.publish(sdk.AgentEvent.task({ id: taskId, contextId, ...submitted }));
    say('WORKING');
    try {
      const { parts } = Message.toJSON(userMessage);
      const instruction = toJson(Instruction, fromBinary(Instruction, Buffer.from(parts[0].raw, 'base64')));
      const text = (await run(instruction)).join('\n');
      if (holds(instruction)) {
        say('WORKING', `${text}\n${FINISHED}`);
        for (let step = 0; step < 5 && !canceled.has(taskId); step++) {
          await delay(2000);
          if (!canceled.has(taskId)) say('WORKING');
        }
      }
      if (!canceled.has(taskId)) say('COMPLETED', text);
    } catch (error) {
      say('FAILED', error.stack);
    }
    bus.finished();
  },
  async cancelTask(taskId, bus) {
    canceled.add(taskId);
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: new Date().toISOString() };
    bus.publish(sdk.AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
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
