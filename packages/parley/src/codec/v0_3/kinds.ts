import type { FieldViolation } from '../../errors/a2a-error.js';
import { isObject } from '../../model/json.js';
import type { Members } from './members.js';

const CONTENTS = ['text', 'file', 'data'];

/**
 * What the message of a request says of its kind that is wrong. Samples of 0.3 leave `kind` out, and versions before it
 * called that of a part `type`; either must be right if it is there.
 */
export function kindViolations(request: unknown): readonly FieldViolation[] {
  if (!isObject(request)) return [];
  const name = isObject(request.message) ? 'message' : 'request';
  const message = request[name];
  if (!isObject(message)) return [];
  const found: FieldViolation[] = [];
  if (isThere(message.kind) && message.kind !== 'message') {
    found.push({ field: `${name}.kind`, description: 'must be message' });
  }
  const list = Array.isArray(message.parts) ? 'parts' : 'content';
  const parts = message[list];
  for (const [at, part] of Array.isArray(parts) ? parts.entries() : []) {
    if (isObject(part)) found.push(...partViolations(part, `${name}.${list}[${at}]`));
  }
  return found;
}

function partViolations(part: Members, path: string): readonly FieldViolation[] {
  return ['kind', 'type'].flatMap((name) => {
    const kind = part[name];
    if (!isThere(kind)) return [];
    const field = `${path}.${name}`;
    if (typeof kind !== 'string' || !CONTENTS.includes(kind)) {
      return [{ field, description: `must be one of ${CONTENTS.join(', ')}` }];
    }
    const others = CONTENTS.filter((content) => content !== kind && isThere(part[content]));
    if (others.length === 0) return [];
    return [{ field, description: `is ${kind}, but the part has ${others.join(' and ')}` }];
  });
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
