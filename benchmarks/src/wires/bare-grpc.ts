// A bare service of @grpc/grpc-js: messages are bytes, answers are ready.
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { ready } from '../subjects/subject-host.js';
import { nextTurn } from '../workloads.js';
import { comesAlone, GRPC_ANSWERS } from './wire-answers.js';

const bytes = (value: Buffer) => value;
const method = (name: string, responseStream: boolean) => ({
  path: `/lf.a2a.v1.A2AService/${name}`,
  requestStream: false,
  responseStream,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
});
const answer = GRPC_ANSWERS.call();
const events = GRPC_ANSWERS.stream();

const server = new Server();
server.addService(
  { sendMessage: method('SendMessage', false), sendStreamingMessage: method('SendStreamingMessage', true) },
  {
    sendMessage: (_call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => done(null, answer),
    sendStreamingMessage: async (call: ServerWritableStream<Buffer, Buffer>) => {
      for (const [index, event] of events.entries()) {
        if (comesAlone(index)) await nextTurn();
        call.write(event);
      }
      call.end();
    },
  },
);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  ready(port);
});
