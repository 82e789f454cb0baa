import type { FastifyPluginCallback } from 'fastify';
import { toFastify as fastifyOf } from '../adapters/fastify/to-fastify.js';
import { checkHandler } from './mounted-agent.js';
import { systemClock } from './runtime.js';
import type { AgentHandler } from './server.js';

/**
 * An agent as a plugin of Fastify 5: `app.register(toFastify(handler), { prefix: '/agents/echo' })`. It answers
 * everything below its prefix.
 * @throws OptionsError for anything but an agent of `createAgentHandler`.
 */
export function toFastify(handler: AgentHandler): FastifyPluginCallback {
  checkHandler('toFastify', handler);
  const { exchange, logger, limitReached } = handler;
  return fastifyOf({ exchange, logger, limitReached, clock: systemClock });
}
