import type { MemberRow } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';

/** A member of a type, found by one of its spellings. */
export type KnownMember = MemberRow;

/** Names that another release or client gives to a member (spec §7.2 row 25 of the known differences between SDKs). */
const ALIASES: { readonly [Type in TypeName]?: Readonly<Record<string, string>> } = {
  ListTasksRequest: { lastUpdatedAfter: 'statusTimestampAfter' },
};

const byType = new Map<TypeName, ReadonlyMap<string, KnownMember>>();

/** The members of a type by every spelling that is accepted: camelCase, snake_case and aliases. */
export function membersOf(type: TypeName): ReadonlyMap<string, KnownMember> {
  let members = byType.get(type);
  if (members === undefined) {
    members = spellings(type);
    byType.set(type, members);
  }
  return members;
}

function spellings(type: TypeName): ReadonlyMap<string, KnownMember> {
  const members = new Map<string, KnownMember>();
  const rows = TYPE_TABLE[type].members;
  for (const [alias, name] of Object.entries(ALIASES[type] ?? {})) {
    const row = rows.find((member) => member.name === name);
    if (row !== undefined) members.set(alias, row).set(snakeCase(alias), row);
  }
  for (const row of rows) members.set(row.name, row).set(snakeCase(row.name), row);
  return members;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
