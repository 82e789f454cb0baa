import type { Authenticator } from '../auth/authenticator.js';
import { directBinding, refusedDirectly } from '../bindings/direct/direct-binding.js';
import type { BindingContext } from '../bindings/http/binding-context.js';
import type { Exchange } from '../bindings/http/exchange.js';
import type { AgentMount } from './agent-mount.js';
import type { HostView } from './host-extension.js';
import type { MiddlewareName } from './middleware/request-way.js';

/** The middlewares that do not apply to direct calls: they read or write HTTP, or belong to browsers. */
const WITHOUT: readonly MiddlewareName[] = ['forwardedCaching', 'streams', 'nosniff', 'hsts', 'cors', 'compression'];

/**
 * The exchange for the direct calls of a binding to an agent (`DirectRequest`), inside of the gate, the limits and the
 * records of its host. `binding` is the name in cards and records.
 */
export function directWay(host: HostView, mount: AgentMount, binding: string): Exchange {
  return directWayFor({ host, mount, binding, authenticator: mount.agent.authenticator });
}

/** The options of `directWayFor`. */
interface DirectWayOptions {
  readonly host: HostView;
  readonly mount: AgentMount;
  readonly binding: string;
  /** The name of the binding in cards, if it differs. */
  readonly inCards?: string;
  /** Finds the user of each call. Absent: every caller is anonymous. */
  readonly authenticator: Authenticator | undefined;
}

/** The same exchange with an authenticator in the place of that of the agent. */
export function directWayFor({ host, mount, binding, inCards, authenticator }: DirectWayOptions): Exchange {
  const refuse = refusedDirectly(binding);
  const made = new WeakMap<BindingContext, Exchange>();
  const exchange: Exchange = (request) => {
    const context = mount.bindingContext(host.baseUrl(request));
    const known = made.get(context) ?? directBinding(context, binding, inCards);
    made.set(context, known);
    return known(request);
  };
  return host.through(exchange, {
    accessOf: authenticator && (() => ({ authenticator, refuse })),
    refusalOf: () => refuse,
    agent: mount.agent,
    without: WITHOUT,
  });
}
