import type { FieldViolation } from '../../errors/a2a-error.js';
import { InvalidParamsError } from '../../errors/standard-errors.js';
import { isObject } from '../../model/json.js';
import type { Dialect } from './dialect.js';
import type { Members } from './members-reader.js';

/** The checks and names of a request's fields that differ from 1.0. */
export interface RequestFields {
  /** Finds violations that the model cannot show. */
  readonly violationsOf?: (request: unknown) => readonly FieldViolation[];
  /** Patterns for the paths of fields in 1.0, and their replacements. */
  readonly renamedFields?: Renaming;
}

type Renaming = readonly (readonly [RegExp, string])[];

const SHARED: Renaming = [
  [/^configuration\.taskPushNotificationConfig\b/, 'configuration.pushNotificationConfig'],
  [/^configuration\.returnImmediately$/, 'configuration.blocking'],
  [/\bauthentication\.scheme$/, 'authentication.schemes'],
  [/(\bparts\[\d+\])\.raw$/, '$1.file.bytes'],
  [/(\bparts\[\d+\])\.url$/, '$1.file.uri'],
  [/(\bparts\[\d+\])\.filename$/, '$1.file.name'],
  [/(\bparts\[\d+\])\.mediaType$/, '$1.file.mimeType'],
];
const PROTO: Renaming = [
  [/^configuration\.pushNotificationConfig\b/, 'configuration.pushNotification'],
  [/^message\.parts\b/, 'message.content'],
  [/\.file\.bytes$/, '.file.fileWithBytes'],
  [/\.file\.uri$/, '.file.fileWithUri'],
];

/** The violations of a request in the names of these versions, so that each path is the one that the client wrote. */
export function oldViolations(
  error: InvalidParamsError,
  { kinds }: Dialect,
  { renamedFields = [] }: RequestFields,
): InvalidParamsError {
  const renamings = [...SHARED, ...(kinds ? [] : PROTO), ...renamedFields];
  const violations = error.details.violations?.map(({ field, description }) => ({
    field: renamings.reduce((path, [pattern, name]) => path.replace(pattern, name), field),
    // A file part has its content in `file`.
    description: description.replace('exactly one of text, raw, url, data', 'exactly one of text, file, data'),
  }));
  return new InvalidParamsError(violations ?? []);
}

const CONTENTS = ['text', 'file', 'data'];

/**
 * Checks `kind` of a message and of its parts. Samples of 0.3 leave `kind` out, and versions before it call that of a
 * part `type`. A member that is present must be right.
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
