// The peer over gRPC, as its documentation sets it up.
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { EXECUTORS } from '../subjects/peer-agents.js';
import { peerHandling } from '../subjects/peer-server.js';
import { ready } from '../subjects/subject-host.js';
import { workArgument } from './wire-host.js';

const server = new Server();
server.addService(A2AService, grpcService(peerHandling(EXECUTORS[workArgument()])));
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  ready(port);
});
