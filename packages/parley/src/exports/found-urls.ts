import { type NameLookup, systemLookup } from '../adapters/node/modules-of-node.js';
import type { Fetch } from '../bindings/http/http-caller.js';
import { hostOf } from '../client/credential-guard.js';
import { A2AError } from '../errors/a2a-error.js';
import { RefusedAddressError } from '../errors/refused-address-error.js';
import { parseIp } from '../net/ip-address.js';
import { isPublicAddress } from '../net/public-address.js';
import { guardedFetch } from './guarded-fetch.js';

/**
 * A `fetch` for urls that an agent, a card or a catalog names. They must lead to public addresses. If a url that the
 * caller gave leads to a private address itself, they may lead anywhere, because that agent is in the private network.
 * Undefined on hosts that cannot check addresses.
 */
export function fetchOfFoundUrls(given: readonly string[], send: Fetch): Fetch | undefined {
  const lookup = systemLookup();
  if (lookup === undefined) return undefined;
  const guarded = guardedFetch({ bytes: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY });
  const isInside = insideOf(given, lookup);
  return async (url, init) => {
    if (await isInside()) return send(url, init);
    try {
      return await guarded(url, init);
    } catch (error) {
      if (!(error instanceof RefusedAddressError)) throw error;
      const place = URL.parse(url)?.origin ?? 'an address';
      const reason = 'its address is not public, and the caller did not name it';
      throw new A2AError('INVALID_AGENT_RESPONSE', `${place} is not called: ${reason}. See trustedOrigins`);
    }
  };
}

/** Makes a function that returns whether a url that the caller gave leads to a private address. Looks it up once. */
export function insideOf(given: readonly string[], lookup: NameLookup | undefined): () => Promise<boolean> {
  let inside: Promise<boolean> | undefined;
  return () => {
    inside ??= lookup === undefined ? Promise.resolve(true) : isAnyInside(given, lookup);
    return inside;
  };
}

async function isAnyInside(given: readonly string[], lookup: NameLookup): Promise<boolean> {
  const hosts = given.flatMap((text) => hostOf(text)?.replace(/^\[|\]$|\.$/g, '') ?? []);
  const answers = await Promise.all(
    hosts.map(async (host) => {
      const addresses = parseIp(host) === undefined ? await lookup(host).catch(() => []) : [{ address: host }];
      return addresses.some(({ address }) => {
        const parsed = parseIp(address);
        return parsed !== undefined && !isPublicAddress(parsed);
      });
    }),
  );
  return answers.includes(true);
}
