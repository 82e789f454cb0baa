// Our subject with all bindings. Its port is that of HTTP, or that of gRPC if the argument says so.

import { createA2AServer } from 'parley-a2a/node';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { grpcBinding } from 'parley-a2a-grpc';
import { AGENTS } from '../subjects/parley-agents.js';
import { ready } from '../subjects/subject-host.js';
import { workArgument } from './wire-host.js';

const server = createA2AServer({
  agent: AGENTS[workArgument()],
  bindings: [grpcBinding({ port: 0 }), capnwebBinding()],
});
const { url } = await server.listen(0);
const grpc = server.interfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC')?.url;
const address = process.argv[3] === 'grpc' ? `http://${grpc}` : url;
ready(Number(new URL(address).port));
