import { OptionsError } from '../../errors/options-error.js';
import { SchemeCredentials } from './scheme-credentials.js';

/** Who somebody is for HTTP Basic. */
export interface BasicOptions {
  readonly username: string;
  readonly password: string;
  /** The only scheme of the card, by its name there, that this is for. */
  readonly scheme?: string;
}

/**
 * A name and a password for HTTP Basic schemes (RFC 7617), as UTF-8.
 * @throws OptionsError where the name has a colon.
 */
export function basic({ username, password, scheme: schemeName }: BasicOptions): SchemeCredentials {
  if (username.includes(':')) throw new OptionsError('basic', ['username: a colon would end it']);
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
