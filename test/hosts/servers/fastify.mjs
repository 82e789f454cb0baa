import Fastify from 'fastify';
import { toFastify } from 'parley-a2a/fastify';
import { agentHandlers } from './agents.mjs';

const { open, guarded } = agentHandlers(() => ({}));
const app = Fastify();
app.register(toFastify(open), { prefix: '/agents/open' });
app.register(async (scope) => scope.register(toFastify(guarded), { prefix: '/guarded' }), { prefix: '/agents' });
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
console.log('ready');
