// An agent below an instrumentation of HTTP, and of a framework. Usage: instrumented-server.mjs OTLP_URL OPTIONS. The
// settings name the host: `node`, `express`, `fastify` or `grpc`.
import { once } from 'node:events';
import { register } from 'node:module';
import { FastifyOtelInstrumentation } from '@fastify/otel';
import { propagation } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { GrpcInstrumentation } from '@opentelemetry/instrumentation-grpc';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { exportSpans } from './span-export.ts';

register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
const [, , otlp, options] = process.argv;
const { host } = JSON.parse(options).settings;
const provider = exportSpans('instrumented', otlp);
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
const fastifyOtel = new FastifyOtelInstrumentation();
for (const instrumentation of [
  new HttpInstrumentation(),
  new ExpressInstrumentation(),
  new GrpcInstrumentation(),
  fastifyOtel,
])
  instrumentation.setTracerProvider(provider);

const { createAgentHandler } = await import('parley-a2a');
const { serverTracing } = await import('parley-a2a-otel');
const agent = { name: 'Instrumented', agent: () => 'done', tracing: serverTracing() };

const HOSTS = {
  async node() {
    const { createA2AServer } = await import('parley-a2a/node');
    return (await createA2AServer({ ...agent, logRequests: false }).listen(0)).url;
  },
  async grpc() {
    const { createA2AServer } = await import('parley-a2a/node');
    const { grpcBinding } = await import('parley-a2a-grpc');
    const bindings = [grpcBinding({ port: 0, listed: 'public' })];
    return (await createA2AServer({ ...agent, bindings, logRequests: false }).listen(0)).url;
  },
  async express() {
    const { default: express } = await import('express');
    const { toExpress } = await import('parley-a2a/express');
    const app = express().use('/', toExpress(createAgentHandler(agent)));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${server.address().port}`;
  },
  async fastify() {
    const { default: fastify } = await import('fastify');
    const { toFastify } = await import('parley-a2a/fastify');
    const app = fastify();
    await app.register(fastifyOtel.plugin());
    await app.register(toFastify(createAgentHandler(agent)));
    return app.listen({ port: 0, host: '127.0.0.1' });
  },
};
process.stdout.write(`${await HOSTS[host]()}\n`);
