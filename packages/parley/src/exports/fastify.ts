import type { FastifyPluginCallback } from 'fastify';
import { toFastify as fastifyOf } from '../adapters/fastify/to-fastify.js';
import { systemClock } from './runtime.js';
import type { AgentHandler } from './server.js';

/**
 * An agent as a plugin of Fastify 5: `app.register(toFastify(handler), { prefix: '/agents/echo' })`. It answers
 * everything below its prefix.
 */
export function toFastify({ exchange, logger, limitReached }: AgentHandler): FastifyPluginCallback {
  return fastifyOf({ exchange, logger, limitReached, clock: systemClock });
}
