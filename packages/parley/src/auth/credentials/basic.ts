import { OptionsError } from '../../errors/options-error.js';
import { checkOptions } from '../../options/check-options.js';
import { nonEmpty, type OptionSchemas, optionObject, text } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { SchemeCredentials } from './scheme-credentials.js';

/** Options of HTTP Basic. */
export interface BasicOptions {
  readonly username: string;
  readonly password: string;
  /** The name of the only scheme of the card that these credentials serve. */
  readonly scheme?: string;
}

const schemas: OptionSchemas<BasicOptions> = { username: text, password: text, scheme: Type.Optional(nonEmpty) };
const basicSchema = optionObject(schemas);

/**
 * A name and a password for HTTP Basic schemes (RFC 7617), as UTF-8.
 * @throws OptionsError if the name has a colon, and for unknown options.
 */
export function basic(options: BasicOptions): SchemeCredentials {
  const { username, password, scheme: schemeName } = checkOptions({ subject: 'basic', schema: basicSchema, options });
  if (username.includes(':')) throw new OptionsError('basic', ['username: must not have a colon']);
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  const headers = { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
  return new SchemeCredentials([
    {
      title: 'a name and a password',
      schemeName,
      fits: (scheme) =>
        scheme === undefined ||
        (scheme.httpAuthSecurityScheme !== undefined && /^basic$/i.test(scheme.httpAuthSecurityScheme.scheme)),
      prove: async () => ({ headers }),
    },
  ]);
}
