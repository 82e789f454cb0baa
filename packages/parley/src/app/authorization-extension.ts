import type { Exchange } from '../bindings/http/exchange.js';
import type { HostExtension } from './host-extension.js';
import { taking } from './middleware/method-filter.js';
import type { ServedAgent } from './served-agent.js';

/**
 * The callbacks at which authorizations of agents arrive (Spec §7.6). A browser that a provider redirects has no
 * credential for the agent, so all callers may use them. The state is the proof. It is in the query or the body,
 * because logs have paths.
 */
export const authorizationExtension: HostExtension = {
  endpoints: ({ mounts }) =>
    mounts.map(({ paths, agent }) => ({
      path: paths.authorizations,
      exchange: taking({ methods: ['GET', 'POST'], message: 'Authorizations arrive here' }, callback(agent)),
      access: 'open',
      without: [],
    })),
};

function callback(agent: ServedAgent): Exchange {
  return async (request) => {
    const { answerCallback } = await import('./authorization-callback.js');
    return answerCallback(agent, request);
  };
}
