import type { MemberRow } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';

/** Other names of members that clients in use send. */
const ALIASES: { readonly [Type in TypeName]?: Readonly<Record<string, string>> } = {
  ListTasksRequest: { lastUpdatedAfter: 'statusTimestampAfter' },
};

const byType = new Map<TypeName, ReadonlyMap<string, MemberRow>>();

/** The members of a type by every accepted spelling: camelCase, snake_case and aliases. */
export function membersOf(type: TypeName): ReadonlyMap<string, MemberRow> {
  let members = byType.get(type);
  if (members === undefined) {
    members = spellings(type);
    byType.set(type, members);
  }
  return members;
}

/** All spellings of one member, its own name first. */
export function spellingsOf(type: TypeName, name: string): readonly string[] {
  const others = [...membersOf(type)].filter(([spelling, row]) => row.name === name && spelling !== name);
  return [name, ...others.map(([spelling]) => spelling)];
}

function spellings(type: TypeName): ReadonlyMap<string, MemberRow> {
  const members = new Map<string, MemberRow>();
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
