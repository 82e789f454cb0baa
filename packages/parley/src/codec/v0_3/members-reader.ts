import { isObject } from '../../model/json.js';

/** A value of the wire that is an object, before anybody has looked at its members. */
export type Members = Readonly<Record<string, unknown>>;

/** Makes a value of the model of one of the wire. What it cannot convert it gives back, for the validator to refuse. */
export type Read = (value: unknown) => unknown;

/** A member: its name in the model, its names on the wire where they are others, how its value is read where it is not the same. */
export type MemberRow = readonly [name: string, spellings?: readonly string[] | undefined, read?: Read];

/**
 * Reads the objects of a type: takes over the members that have a row, whether spelled so or in snake_case, and no others. `null` counts
 * as absent, and so does what is read as `undefined`.
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
      if (read !== undefined) members[member.name] = read;
    }
    return members;
  };
}

/** Applies to objects; anything else stays as it is. */
export function objectReader(read: (value: Members) => unknown): Read {
  return (value) => (isObject(value) ? read(value) : value);
}

/** Reads the items of lists that are objects; anything else stays as it is. */
export function listReader(read: (value: Members) => unknown): Read {
  const item = objectReader(read);
  return (value) => (Array.isArray(value) ? value.map(item) : value);
}

/** Protobuf writes an empty text where there is none. */
export const readNonEmpty: Read = (value) => (value === '' ? undefined : value);
