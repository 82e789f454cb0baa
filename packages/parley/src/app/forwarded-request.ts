import type { HeaderReader } from '../auth/authenticator.js';

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
