import { hasRepeatedMember } from '../../auth/tokens/repeated-members.js';
import { InvalidParamsError, repeatedFieldError } from '../../errors/standard-errors.js';
import { isObject } from '../../model/json.js';
import type { AuthorizationReply } from '../../server/authorization.js';
import { limitsOfSmallBody } from './binding-context.js';
import type { ExchangeRequest } from './exchange.js';
import { parseJson, readText } from './json-body.js';
import { essence, JSON_TYPE } from './media-type.js';

/** A reply with the state that it came with. */
export interface ReceivedReply {
  readonly state: string;
  readonly reply: AuthorizationReply;
}

/** Tokens and codes of providers are shorter. */
const LIMITS = limitsOfSmallBody(65_536);
const MOST_PARAMETERS = 32;
/** Parameters that refuse the whole reply if they have no value. */
const DECIDING = ['state', 'code', 'error'];
/** The characters of an error code (RFC 6749 §4.1.2.1). */
const ERROR_CODE = /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/**
 * Reads the request that an authorization server, a page or a program sends to a callback. It has the query of a
 * redirect, or a form or JSON in its body. A parameter `error` is a refusal (RFC 6749 §4.1.2). Other parameters without
 * a value are dropped (RFC 6749 §3.1).
 * @throws InvalidParamsError for a state, a credential or a form that is missing or wrong; A2AError as `readText` does.
 */
export async function readReply(request: ExchangeRequest): Promise<ReceivedReply> {
  const { state, error, error_description: _, ...parameters } = await parametersOf(request);
  if (state === undefined) throw wrong('state', 'is missing');
  if (error !== undefined) {
    return { state, reply: { kind: 'denied', reason: ERROR_CODE.test(error) ? error : 'access_denied' } };
  }
  // A link preview sends no parameters but the state, and must not use it up.
  if (Object.keys(parameters).length === 0) throw wrong('code', 'is missing: the state came without a credential');
  return { state, reply: { kind: 'granted', parameters } };
}

async function parametersOf(request: ExchangeRequest): Promise<Readonly<Record<string, string>>> {
  if (request.method !== 'POST') return unique([...new URLSearchParams(request.query)]);
  const text = await readText(request, { limits: LIMITS });
  if (essence(request.header('content-type')) !== JSON_TYPE) return unique([...new URLSearchParams(text)]);
  const body = parseJson(text, LIMITS);
  if (!isObject(body)) throw wrong('body', 'must be an object');
  if (hasRepeatedMember(text)) throw wrong('body', 'must not have a member twice');
  return unique(
    Object.entries(body).map(([name, value]) => {
      if (typeof value !== 'string') throw wrong(name, 'must be a string');
      return [name, value];
    }),
  );
}

/** RFC 6749 §3.1: a parameter must not come twice. */
function unique(entries: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  if (entries.length > MOST_PARAMETERS) throw wrong('body', `must not have more than ${MOST_PARAMETERS} parameters`);
  const found = new Map<string, string>();
  for (const [name, value] of entries) {
    if (found.has(name)) throw repeatedFieldError(name);
    found.set(name, value);
  }
  for (const name of DECIDING) if (found.get(name) === '') throw wrong(name, 'must not be empty');
  return Object.fromEntries([...found].filter(([, value]) => value !== ''));
}

function wrong(field: string, description: string): InvalidParamsError {
  return new InvalidParamsError([{ field, description }]);
}
