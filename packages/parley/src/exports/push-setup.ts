import { checkedConnections } from '../adapters/node/checked-connections.js';
import type { KeySource } from '../app/key-set-extension.js';
import type { PushOptions } from '../app/options/push-options.js';
import type { PushPorts } from '../app/push-delivery.js';
import { OptionsError } from '../errors/options-error.js';
import type { DocumentFetch } from '../net/bounded-fetch.js';
import { Destinations, destinationOf } from '../net/destinations.js';
import type { GuardedFetchOptions } from '../net/guarded-fetch.js';
import { systemClock } from './runtime.js';

/**
 * The ports of push notifications by the option.
 * @throws OptionsError on a host that cannot check addresses, if the option allows no hosts.
 */
export function pushPorts(subject: string, push: boolean | PushOptions): PushPorts | undefined {
  if (push === false) return undefined;
  const options = push === true ? {} : push;
  const { allow = [], only } = options;
  const connections = checkedConnections();
  if (connections === undefined && options.fetch === undefined && allow.length === 0) {
    throw new OptionsError(subject, [
      'push: this host cannot check the addresses of webhooks. Name them in push.allow',
    ]);
  }
  const guard = { allow, ...(only && { only }) };
  const destinations = new Destinations(guard);
  const ports = { clock: systemClock, connections, uncheckedFetch: plainFetch };
  // Each attempt has its own time limit.
  const fetch = options.fetch ?? loadedFetch({ ...guard, ms: Number.POSITIVE_INFINITY, ...ports });
  const isUnchecked = connections === undefined && options.fetch === undefined;
  return {
    options,
    fetch,
    refusal: (url) => destinations.fault(url) ?? (isUnchecked ? nameProblem(destinations, url) : undefined),
    random: Math.random,
  };
}

/** A guarded `fetch` whose code is loaded by the first notification. */
function loadedFetch(options: GuardedFetchOptions): DocumentFetch {
  let loaded: Promise<DocumentFetch> | undefined;
  return async (url, init) => {
    loaded ??= import('../net/guarded-fetch.js').then(({ guardedFetch }) => guardedFetch(options));
    return (await loaded)(url, init);
  };
}

/** The public keys of signatures. */
export function publishedKeys(push: boolean | PushOptions): readonly KeySource[] {
  if (typeof push === 'boolean' || push.signature === undefined) return [];
  const { signature } = push;
  return [async () => signature.keys.map((await import('../push/signing-keys.js')).publicKeyOf)];
}

/** A host that cannot check addresses calls only the names that it may call at any address. */
function nameProblem(destinations: Destinations, url: URL): string | undefined {
  const destination = destinationOf(url);
  const isAllowed = destinations.allows(destination, destination.host) || destinations.allowsName(destination);
  return isAllowed ? undefined : 'this server calls only hosts that it is told to allow';
}

const plainFetch: DocumentFetch = (url, init) => fetch(url, init);
