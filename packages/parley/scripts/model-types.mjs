/**
 * The TypeScript types of the schemas: an interface for each named object, a union for each choice. A user's editor and
 * compiler then show names. An alternative of a choice has the members of the others as `undefined`, so that a test of
 * one member tells the alternatives apart.
 */
export function modelTypes({ definitions, unions, comments }) {
  const others = othersOf(definitions, unions);
  const declared = [...definitions].map(([name, schema]) => {
    const comment = comments.has(name) ? `${comments.get(name)}\n` : '';
    const alternatives = unions.get(name);
    if (alternatives !== undefined) return `${comment}export type ${name} = ${alternatives.join(' | ')};`;
    const required = new Set(schema.required);
    const members = Object.entries(schema.properties).map(([member, value]) => {
      const about = comments.get(`${name}.${member}`);
      const line = `  readonly ${member}${required.has(member) ? '' : '?'}: ${typeOf(value)};`;
      return about === undefined ? line : `  ${about}\n${line}`;
    });
    const never = [...(others.get(name) ?? [])].map((member) => `  readonly ${member}?: undefined;`);
    return `${comment}export interface ${name} {\n${[...members, ...never].join('\n')}\n}`;
  });
  return [
    "import type { JsonObject, JsonValue } from './json.js';",
    "import type { Role } from './role.js';",
    "import type { TaskState } from './task-state.js';",
    ...declared,
  ].join('\n\n');
}

/** For each alternative of a choice: the members that only other alternatives have. */
function othersOf(definitions, unions) {
  const others = new Map();
  for (const [union, alternatives] of unions) {
    const all = Object.keys(definitions.get(union).properties);
    for (const name of alternatives) {
      const own = definitions.get(name).properties;
      const found = others.get(name) ?? new Set();
      for (const member of all) if (!(member in own)) found.add(member);
      others.set(name, found);
    }
  }
  return others;
}

/** Each enumeration of the protocol, by its first value. */
const ENUMERATIONS = { TASK_STATE_UNSPECIFIED: 'TaskState', ROLE_UNSPECIFIED: 'Role' };

function typeOf(schema) {
  const { $ref, enum: values, type, items, additionalProperties } = schema;
  if ($ref !== undefined) return $ref.replace('#/$defs/', '');
  if (values !== undefined) return ENUMERATIONS[values[0]] ?? values.map((value) => `'${value}'`).join(' | ');
  switch (type) {
    case 'array':
      return `readonly ${typeOf(items)}[]`.replace(/^readonly (.* \| .*)\[\]$/, 'readonly ($1)[]');
    case 'object':
      return additionalProperties === undefined
        ? 'JsonObject'
        : `{ readonly [name: string]: ${typeOf(additionalProperties)} }`;
    case 'integer':
      return 'number';
    case 'string':
    case 'boolean':
      return type;
    case undefined:
      return 'JsonValue';
    default:
      throw new Error(`no type for ${JSON.stringify(schema)}`);
  }
}
