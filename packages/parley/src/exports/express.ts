import type { ErrorRequestHandler, RequestHandler } from 'express';
import { toExpress as expressOf } from '../adapters/express/to-express.js';
import { checkHandler } from './mounted-agent.js';
import { systemClock } from './runtime.js';
import type { AgentHandler } from './server.js';

/**
 * Makes middleware of Express 5 from an agent: `app.use('/agents/echo', toExpress(handler))`. It answers every request
 * below its path, with or without a body parser before it.
 * @throws OptionsError for anything but an agent of `createAgentHandler`.
 */
export function toExpress(handler: AgentHandler): [RequestHandler, ErrorRequestHandler] {
  checkHandler('toExpress', handler);
  const { exchange, logger, limitReached } = handler;
  return expressOf({ exchange, logger, limitReached, clock: systemClock });
}
