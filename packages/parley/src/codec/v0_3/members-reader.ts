import { isObject } from '../../model/json.js';

/** A received object before its members are checked. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * Converts a received value to one of the model. A value that cannot be converted stays as it is; the validator refuses
 * it.
 */
export type Read = (value: unknown) => unknown;

/** A member: its name in the model, its names on the wire if they differ, and a conversion if the value differs. */
export type MemberRow = readonly [name: string, spellings?: readonly string[] | undefined, read?: Read];

/**
 * Reads the objects of a type: keeps the members that have a row, in camelCase or snake_case, and drops all others.
 * `null` and values that are read as `undefined` count as absent. A member in two spellings becomes a list of both
 * values, which the validator refuses.
 */
export function membersReader(rows: readonly MemberRow[]): (value: Members) => Record<string, unknown> {
  const bySpelling = new Map<string, { readonly name: string; readonly read: Read | undefined }>();
  for (const [name, spellings = [name], read] of rows) {
    for (const spelling of spellings) {
      bySpelling.set(spelling, { name, read });
      bySpelling.set(
        spelling.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        { name, read },
      );
    }
  }
  return (value) => {
    const members: Record<string, unknown> = {};
    for (const spelling in value) {
      const member = bySpelling.get(spelling);
      if (member === undefined) continue;
      const given = value[spelling] ?? undefined;
      const read = member.read === undefined || given === undefined ? given : member.read(given);
      if (read === undefined) continue;
      const { name } = member;
      members[name] = Object.hasOwn(members, name) ? [members[name], read] : read;
    }
    return members;
  };
}

/** Reads objects; any other value stays as it is. */
export function objectReader(read: (value: Members) => unknown): Read {
  return (value) => (isObject(value) ? read(value) : value);
}

/** Reads each object in a list; any other item or value stays as it is. */
export function listReader(read: (value: Members) => unknown): Read {
  const item = objectReader(read);
  return (value) => (Array.isArray(value) ? value.map(item) : value);
}

/** Reads an empty text as absent: protobuf has no other form for that. */
export const readNonEmpty: Read = (value) => (value === '' ? undefined : value);
