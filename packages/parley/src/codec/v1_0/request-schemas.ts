import { ROLES } from '../../model/role.js';
import type { MemberRow, ValueForm } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';
import type { Components } from '../../openapi/components.js';
import type { Reference, Schema } from '../../openapi/document.js';
import type { SchemaLimits } from '../wire-schemas.js';
import { defaultOf } from './closed-form.js';
import { spellingsOf } from './member-names.js';
import { nullable, scalarSchema } from './value-schemas.js';

/** The options of the schemas of requests. */
interface SchemaOptions {
  readonly components: Components;
  readonly limits: SchemaLimits;
}

const NO_PUSH: Schema = { type: 'null', description: 'This agent sends no push notifications.' };
const IDS: readonly string[] = ['tenant', 'id', 'taskId', 'contextId', 'messageId', 'referenceTaskIds'];

/** True if a member holds ids, whose length an agent limits. */
export function isId(name: string): boolean {
  return IDS.includes(name);
}

/** A type in every JSON form that a server accepts, as a component. The rules are those of `toClosedForm`. */
export function acceptedType(type: TypeName, options: SchemaOptions): Reference {
  return options.components.add(`${type}Input`, acceptedObject(type, options));
}

/** As `acceptedType`, but inline instead of as a component, and without some members. */
export function acceptedObject(type: TypeName, options: SchemaOptions, without: readonly string[] = []): Schema {
  const { members, exactlyOne } = TYPE_TABLE[type];
  const rows = members.filter(({ name }) => !without.includes(name)).map((row) => memberSchema(type, row, options));
  const required = rows.filter(({ needed, spellings }) => needed && spellings.length === 1).map(({ name }) => name);
  const respelled = rows.filter(({ needed, spellings }) => needed && spellings.length > 1);
  const either = respelled.map(({ spellings, schema }) => ({
    anyOf: spellings.map((spelling) => ({ required: [spelling], properties: { [spelling]: schema } })),
  }));
  const twice = rows.flatMap(({ spellings }) => pairsOf(spellings)).map((pair) => ({ required: pair }));
  const content = exactlyOne && rows.filter(({ name }) => exactlyOne.includes(name));
  return {
    type: 'object',
    properties: Object.fromEntries(rows.flatMap(({ properties }) => properties)),
    ...(required.length > 0 && { required }),
    ...(either.length > 0 && { allOf: either }),
    ...(twice.length > 0 && { not: { anyOf: twice } }),
    ...(content && {
      oneOf: content.map(({ name, schema }) => ({ required: [name], properties: { [name]: schema } })),
    }),
  };
}

function pairsOf(spellings: readonly string[]): readonly (readonly string[])[] {
  return spellings.flatMap((one, at) => spellings.slice(at + 1).map((other) => [one, other]));
}

interface MemberSchema {
  readonly name: string;
  readonly spellings: readonly string[];
  /** True if there must be a value that is not null. */
  readonly needed: boolean;
  readonly schema: Schema;
  readonly properties: readonly (readonly [string, Schema])[];
}

function memberSchema(type: TypeName, { name, required, form }: MemberRow, options: SchemaOptions): MemberSchema {
  const needed = required && defaultOf(form) === undefined;
  const isRefused =
    type === 'SendMessageConfiguration' && name === 'taskPushNotificationConfig' && !options.limits.pushNotifications;
  const any = isRefused ? NO_PUSH : valueSchema(form, needed, options);
  const schema = addLimits(type, name, any, options.limits);
  const spellings = spellingsOf(type, name);
  const given = (needed && spellings.length === 1) || form.is === 'json' ? schema : nullable(schema);
  const description = `Another spelling of ${name}. Only one of them may be there.`;
  const other = { ...nullable(any), description };
  const properties = spellings.map((spelling) => [spelling, spelling === name ? given : other] as const);
  return { name, spellings, needed, schema, properties };
}

function valueSchema(form: ValueForm, needed: boolean, options: SchemaOptions): Schema {
  switch (form.is) {
    case 'object':
      return { ...acceptedType(form.type, options) };
    case 'list':
      return { type: 'array', items: valueSchema(form.of, true, options), ...(form.nonEmpty && { minItems: 1 }) };
    case 'map':
      return { type: 'object', additionalProperties: valueSchema(form.of, true, options) };
    case 'string':
    case 'integer':
    case 'boolean':
    case 'base64':
    case 'timestamp':
    case 'enum':
    case 'free':
    case 'json':
      return scalarSchema(form, needed, 'json');
  }
}

/** Adds the limits of the agent. */
function addLimits(type: TypeName, name: string, schema: Schema, limits: SchemaLimits): Schema {
  if (isId(name)) {
    const { ofIds } = limits;
    return schema.type === 'array'
      ? { ...schema, items: { ...(schema.items as Schema), ...ofIds } }
      : { ...schema, ...ofIds };
  }
  if (type === 'Message' && name === 'parts') return { ...schema, maxItems: limits.parts };
  // A client speaks as the user. The number stands beside the name, as in the requests of ProtoJSON.
  if (type === 'Message' && name === 'role') return { ...schema, enum: ['ROLE_USER', ROLES.indexOf('ROLE_USER')] };
  return schema;
}
