import type { CallDefaults } from './call-options.js';
import type { CredentialGuard } from './credential-guard.js';
import { credentialedFetch, type PlainFetch } from './credentialed-fetch.js';

/** The parts of a client that its requests beside the protocol need. */
interface ClientFetchOptions {
  readonly guard: CredentialGuard;
  readonly send: PlainFetch;
  readonly defaults: CallDefaults;
}

/** Makes the `fetch` of a client: with its headers and credentials, each for the origins that may get them. */
export function clientFetch({ guard, send, defaults }: ClientFetchOptions): PlainFetch {
  const request = credentialedFetch(guard, send);
  return (url, init) => {
    const headers = new Headers(defaults.headers as Record<string, string> | undefined);
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return request(url, { ...init, headers });
  };
}
