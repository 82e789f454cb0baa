import type { HeaderReader } from '../auth/authenticator.js';
import { isLoopback } from '../net/loopback.js';
import { isLocalHost } from '../net/public-hosts.js';

/** Headers that proxies add. A proxy makes a server on loopback public. */
const FORWARDING_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-forwarded-prefix',
  'x-original-host',
  'x-original-url',
  'x-envoy-external-address',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fly-client-ip',
  'fastly-client-ip',
];

/** True if a proxy has added a header to the request. */
export function isForwarded(header: HeaderReader): boolean {
  return FORWARDING_HEADERS.some((name) => header(name) !== undefined);
}

/** The parts of a request that tell its origin. */
interface ArrivedRequest {
  header(name: string): string | undefined;
  /** The address of the peer, if the host knows it. */
  readonly peer?: string | undefined;
}

/** True for a request of this machine that names this machine and came through no proxy. */
export function isOfThisMachine(request: ArrivedRequest): boolean {
  const { peer } = request;
  const header = (name: string) => request.header(name);
  return isLocalHost(header('host') ?? '') && (peer === undefined || isLoopback(peer)) && !isForwarded(header);
}
