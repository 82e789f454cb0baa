import type { FastifyPluginCallback } from 'fastify';
import { toFastify as fastifyOf } from '../adapters/fastify/to-fastify.js';
import { checkHandler } from './mounted-agent.js';
import { systemClock } from './runtime.js';
import type { AgentHandler } from './server.js';

/**
 * Makes a plugin of Fastify 5 from an agent: `app.register(toFastify(handler), { prefix: '/agents/echo' })`. It answers
 * every request below its prefix.
 * @throws OptionsError for anything but an agent of `createAgentHandler`.
 */
export function toFastify(handler: AgentHandler): FastifyPluginCallback {
  checkHandler('toFastify', handler);
  const { exchange, logger, limitReached } = handler;
  return fastifyOf({ exchange, logger, limitReached, clock: systemClock });
}
