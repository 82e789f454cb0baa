import { OptionsError } from '../../errors/options-error.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { eitherOf } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { ANONYMOUS, type Authentication, type Credentials } from '../authenticator.js';
import { type ApiKeyPlace, apiKeyPlaceSchema } from '../credentials/api-key-place.js';
import { isFromOtherSite, SAFE_METHODS } from '../cross-site.js';
import { isKeyText } from './api-key.js';

/** A header, a query parameter or a cookie; `bearer` for `Authorization: Bearer <key>`. */
export type KeyPlace = ApiKeyPlace | 'bearer';

/** The schema of the place of a key. */
export const keyPlaceSchema = eitherOf(
  [Type.Literal('bearer'), apiKeyPlaceSchema],
  'must be "bearer", or an object with location and name',
);

/** The place of keys in requests: its entry in the card, its challenges, and its reader. */
export interface PlacedKeys {
  readonly scheme: SecurityScheme;
  readonly challenges: readonly string[];
  /** The answer to a wrong key. */
  readonly wrong: Authentication;
  /** The answer to an expired key. */
  readonly expired: Authentication;
  /** The key of a request, or the answer to a request without a key that can be looked up. */
  read(credentials: Credentials): string | Authentication;
}

/** The options of `placedKeys`. */
interface PlacedKeysOptions {
  /** The origins of pages that may send the cookie, beside the own one. */
  readonly trustedOrigins: readonly string[];
}

/** Valid names of headers and cookies (RFC 9110 §5.1, RFC 6265 §4.1.1). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const BEARER = /^Bearer(?: +|$)/i;
/** Headers with another meaning. */
const TAKEN = ['authorization', 'cookie', 'host', 'content-type', 'content-length'];
const LONGEST_QUERY = 65_536;

/** The place in a text such as `header:X-Agent-Key`, `query:key`, `cookie:sid` or `bearer`; undefined if it is none. */
export function keyPlaceOf(text: string): KeyPlace | undefined {
  if (text === 'bearer') return text;
  const [, location, name = ''] = /^(header|query|cookie):(.+)$/.exec(text) ?? [];
  const place = { location, name } as ApiKeyPlace;
  return placeProblem(place) === undefined ? place : undefined;
}

/** @throws OptionsError if no request can carry a key there. */
export function placedKeys(place: KeyPlace, options: PlacedKeysOptions): PlacedKeys {
  if (place === 'bearer') {
    const wrong = (reason: string) => refusal(reason, ['Bearer error="invalid_token"']);
    return {
      scheme: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
      challenges: ['Bearer'],
      wrong: wrong('unknown key'),
      expired: wrong('expired'),
      read: bearerReader(wrong('malformed')),
    };
  }
  const { location, name } = place;
  const problem = placeProblem(place);
  if (problem !== undefined) throw new OptionsError('ApiKeys', [problem]);
  const challenges = [`ApiKey in="${location}", name="${name.replaceAll(/["\\]/g, '\\$&')}"`];
  const readers = { header: headerReader, query: queryReader, cookie: cookieReader };
  return {
    scheme: { apiKeySecurityScheme: { location, name } },
    challenges,
    wrong: refusal('unknown key'),
    expired: refusal('expired'),
    read: readers[location](name, options),
  };
}

function placeProblem({ location, name }: ApiKeyPlace): string | undefined {
  if (!['header', 'query', 'cookie'].includes(location)) return 'the place must be a header, query or cookie';
  if (location === 'query') return name === '' ? 'the name of the query parameter is missing' : undefined;
  if (!TOKEN.test(name)) return `the name of the ${location} must not have blanks or separators`;
  if (location === 'header' && TAKEN.includes(name.toLowerCase()))
    return `the header ${name} has a meaning of its own. Use another name, or the place "bearer"`;
  return undefined;
}

function refusal(reason: string, challenges?: readonly string[]): Authentication {
  return Object.freeze({ kind: 'refused', reason, ...(challenges && { challenges }) });
}

const MALFORMED = refusal('malformed');
const REPEATED = refusal('repeated');
const OTHER_SCHEME = refusal('another scheme');
const CROSS_SITE = refusal('a cookie without an allowed Origin or Sec-Fetch-Site');

/** A key, or the answer to a text that cannot be one. */
function keyOr(text: string, malformed: Authentication): string | Authentication {
  return isKeyText(text) ? text : malformed;
}

function bearerReader(malformed: Authentication): PlacedKeys['read'] {
  return (credentials) => {
    const header = credentials.header('authorization');
    if (header === undefined) return ANONYMOUS;
    const scheme = BEARER.exec(header)?.[0];
    if (scheme === undefined) return OTHER_SCHEME;
    return keyOr(header.slice(scheme.length).trimEnd(), malformed);
  };
}

function headerReader(name: string): PlacedKeys['read'] {
  const header = name.toLowerCase();
  return (credentials) => {
    const value = credentials.header(header);
    return value === undefined ? ANONYMOUS : keyOr(value.trim(), MALFORMED);
  };
}

function queryReader(name: string): PlacedKeys['read'] {
  return ({ query }) => {
    if (query === '') return ANONYMOUS;
    if (query.length > LONGEST_QUERY) return MALFORMED;
    let found: string | undefined;
    for (const pair of query.split('&')) {
      const mark = pair.indexOf('=');
      if (decode(mark < 0 ? pair : pair.slice(0, mark)) !== name) continue;
      if (found !== undefined) return REPEATED;
      found = mark < 0 ? '' : (decode(pair.slice(mark + 1)) ?? '');
    }
    return found === undefined ? ANONYMOUS : keyOr(found, MALFORMED);
  };
}

/** A name or a value of a query; `undefined` if its percent-encoding is not valid UTF-8. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function cookieReader(name: string, { trustedOrigins }: PlacedKeysOptions): PlacedKeys['read'] {
  return (credentials) => {
    const header = credentials.header('cookie');
    if (header === undefined) return ANONYMOUS;
    let found: string | undefined;
    // Joined lines have commas, and no key may have one: `a=1, b=2` is malformed and never another key.
    for (const pair of header.split(';')) {
      const mark = pair.indexOf('=');
      if (mark < 0 || pair.slice(0, mark).trim() !== name) continue;
      // A page on a sibling domain can set a second cookie of the same name.
      if (found !== undefined) return REPEATED;
      found = pair
        .slice(mark + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1');
    }
    if (found === undefined) return ANONYMOUS;
    if (!isSameSite(credentials, trustedOrigins)) return CROSS_SITE;
    return keyOr(found, MALFORMED);
  };
}

/** False if a page of another site may have made a browser send the cookie with a request that changes something. */
function isSameSite(credentials: Credentials, trustedOrigins: readonly string[]): boolean {
  if (credentials.method !== undefined && SAFE_METHODS.includes(credentials.method)) return true;
  const origin = credentials.header('origin');
  if (origin !== undefined && trustedOrigins.includes(origin)) return true;
  return isFromOtherSite((name) => credentials.header(name)) === false;
}
