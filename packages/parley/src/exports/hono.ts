import { type HonoContext, toHono as honoOf } from '../adapters/hono/to-hono.js';
import { OptionsError } from '../errors/options-error.js';
import { checkHandler } from './mounted-agent.js';
import { systemClock } from './runtime.js';
import type { AgentHandler } from './server.js';

export type { HonoContext } from '../adapters/hono/to-hono.js';

/**
 * Makes a handler of Hono 4 from an agent: `app.use('/agents/echo/*', toHono(handler))`. It answers every request below
 * the path of its route. The `url` of the agent ends with that path.
 * @throws OptionsError if the agent has no `url`.
 */
export function toHono(
  handler: Pick<AgentHandler, 'exchange' | 'url' | 'limitReached'>,
): (context: HonoContext) => Promise<Response> {
  checkHandler('toHono', handler);
  const { exchange, url, limitReached } = handler;
  if (url === undefined) {
    throw new OptionsError('toHono', ['the agent needs a url, such as "https://example.com/agents/echo"']);
  }
  return honoOf({ exchange, limitReached, clock: systemClock });
}
