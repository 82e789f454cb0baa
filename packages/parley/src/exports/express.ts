import type { ErrorRequestHandler, RequestHandler } from 'express';
import { toExpress as expressOf } from '../adapters/express/to-express.js';
import { systemClock } from './runtime.js';
import type { AgentHandler } from './server.js';

/**
 * An agent as middleware of Express 5: `app.use('/agents/echo', toExpress(handler))`. It answers everything below its
 * path, with or without a body parser before it.
 */
export function toExpress({ exchange, logger, limitReached }: AgentHandler): [RequestHandler, ErrorRequestHandler] {
  return expressOf({ exchange, logger, limitReached, clock: systemClock });
}
