import { OptionsError } from '../../errors/options-error.js';
import { SchemeCredentials } from './scheme-credentials.js';

/** Options of HTTP Basic. */
export interface BasicOptions {
  readonly username: string;
  readonly password: string;
  /** The name of the only scheme of the card that these credentials serve. */
  readonly scheme?: string;
}

/**
 * A name and a password for HTTP Basic schemes (RFC 7617), as UTF-8.
 * @throws OptionsError if the name has a colon.
 */
export function basic({ username, password, scheme: schemeName }: BasicOptions): SchemeCredentials {
  if (username.includes(':')) throw new OptionsError('basic', ['username: must not have a colon']);
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  const headers = { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
  return new SchemeCredentials([
    {
      title: 'a name and a password',
      schemeName,
      fits: (scheme) =>
        scheme === undefined ||
        ('httpAuthSecurityScheme' in scheme && /^basic$/i.test(scheme.httpAuthSecurityScheme.scheme)),
      prove: async () => ({ headers }),
    },
  ]);
}
