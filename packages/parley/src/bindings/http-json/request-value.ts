import { A2AError } from '../../errors/a2a-error.js';
import { InvalidParamsError, repeatedFieldError } from '../../errors/standard-errors.js';
import { isObject } from '../../model/json.js';

/** The members of a request before the codec decodes it. */
export type RequestMembers = Record<string, unknown>;

/**
 * The query as request members. The protocol version is no member. The codec drops unknown names.
 * @throws InvalidParamsError if a name is repeated, also in another spelling.
 */
export function queryMembers(query: string): RequestMembers {
  const members: RequestMembers = {};
  if (query === '') return members;
  const given = new Set<string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === '__proto__' || name.toLowerCase() === 'a2a-version') continue;
    const spelled = name.replace(/_[a-z]/g, (letter) => letter.slice(1).toUpperCase());
    if (given.has(spelled)) throw repeatedFieldError(name);
    given.add(spelled);
    members[name] = value;
  }
  return members;
}

/**
 * A parsed body as request members.
 * @throws A2AError INVALID_PARAMS if it is no object.
 */
export function bodyMembers(body: unknown): RequestMembers {
  if (isObject(body)) return body;
  throw new A2AError('INVALID_PARAMS', 'The request body must be an object');
}

/**
 * Sets the members that the url holds. They replace a missing or empty member.
 * @throws InvalidParamsError if the request has another value.
 */
export function setMembers(members: RequestMembers, fromUrl: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(fromUrl)) {
    const alias = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    for (const spelling of new Set([name, alias])) {
      const said = Object.hasOwn(members, spelling) ? members[spelling] : undefined;
      if (said !== undefined && said !== null && said !== '' && said !== value) {
        throw new InvalidParamsError([{ field: name, description: 'differs from the value in the url' }]);
      }
      delete members[spelling];
    }
    members[name] = value;
  }
}
