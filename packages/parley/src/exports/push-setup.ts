import { modulesOfNode } from '../adapters/node/modules-of-node.js';
import type { PublishedKeys } from '../app/key-set-extension.js';
import type { PushOptions } from '../app/options/push-options.js';
import type { PushPorts } from '../app/push-delivery.js';
import { OptionsError } from '../errors/options-error.js';
import type { DocumentFetch } from '../net/bounded-fetch.js';
import { type DestinationOptions, Destinations, destinationOf } from '../net/destinations.js';
import type { SendPost } from '../net/posts.js';
import { systemClock } from './runtime.js';

/**
 * Makes the ports of push notifications from the option.
 * @throws OptionsError on a host that cannot check addresses, if the option allows no hosts.
 */
export function pushPorts(subject: string, push: boolean | PushOptions): PushPorts | undefined {
  if (push === false) return undefined;
  const options = push === true ? {} : push;
  const { allow = [], only } = options;
  const modules = modulesOfNode();
  if (modules === undefined && options.fetch === undefined && allow.length === 0) {
    throw new OptionsError(subject, [
      'push: this host cannot check the addresses of webhooks. Name them in push.allow',
    ]);
  }
  const guard = { allow, ...(only && { only }) };
  const destinations = new Destinations(guard);
  const isUnchecked = modules === undefined && options.fetch === undefined;
  return {
    options,
    loadSend: () => loadedSend(options.fetch, guard),
    refusal: (url) => destinations.fault(url) ?? (isUnchecked ? nameProblem(destinations, url) : undefined),
    random: Math.random,
  };
}

/** Sends by the `fetch` of the application, or by a guarded one. Its code is loaded with the first notification. */
async function loadedSend(ofApplication: DocumentFetch | undefined, guard: DestinationOptions): Promise<SendPost> {
  const clock = systemClock;
  if (ofApplication === undefined) {
    const { checkedPosts } = await import('../adapters/node/checked-posts.js');
    const send = checkedPosts(new Destinations(guard), { clock });
    if (send !== undefined) return send;
  }
  const [{ fetchedPosts }, { guardedFetch }] = await Promise.all([
    import('../net/posts.js'),
    import('../net/guarded-fetch.js'),
  ]);
  // Each attempt has its own time limit.
  const createGuardedFetch = () =>
    guardedFetch({ ...guard, ms: Number.POSITIVE_INFINITY, clock, uncheckedFetch: plainFetch });
  return fetchedPosts(ofApplication ?? createGuardedFetch(), clock);
}

/** The public keys of signatures. */
export function publishedKeys(push: boolean | PushOptions): readonly PublishedKeys[] {
  if (typeof push === 'boolean' || push.signature === undefined) return [];
  const { signature } = push;
  return [async () => signature.keys.map((await import('../push/signing-keys.js')).publicKeyOf)];
}

/** The problem of a host name on hosts that cannot check addresses: it must be allowed at any address. */
function nameProblem(destinations: Destinations, url: URL): string | undefined {
  const destination = destinationOf(url);
  const isAllowed = destinations.allows(destination, destination.host) || destinations.allowsName(destination);
  return isAllowed ? undefined : 'this server calls only hosts that it is told to allow';
}

const plainFetch: DocumentFetch = (url, init) => fetch(url, init);
