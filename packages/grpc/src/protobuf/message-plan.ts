import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { defaultOf, TYPE_TABLE, type TypeName } from 'parley-a2a/binding-kit';
import { LENGTH_DELIMITED, tagOf, VARINT } from './wire-reader.js';

/** The type of a field's value in a message and in the model. Well-known types have their own. */
export type FieldType = 'string' | 'bytes' | 'bool' | 'int32' | 'enum' | 'message' | 'timestamp' | 'struct' | 'value';

/** One field of a message, prepared for reading and writing. */
export interface FieldPlan {
  /** The name in ProtoJSON. */
  readonly name: string;
  readonly type: FieldType;
  /** The number of the field with its wire type. */
  readonly tag: number;
  /** `map`: the keys are strings, and `type` is that of the values. */
  readonly holds: 'one' | 'list' | 'map';
  /** True if the default is written, too, because absent and default differ. */
  readonly presence: boolean;
  /** True if a zero counts as absent, although the field has presence. */
  readonly zeroIsAbsent: boolean;
  /** The other members of its oneof. */
  readonly rivals: readonly string[];
  /** The message of a field of type `message`, made at first use. */
  readonly message: () => MessagePlan;
  /** The names of an enum by number, and their numbers. */
  readonly names: ReadonlyMap<number, string>;
  readonly numbers: ReadonlyMap<string, number>;
}

/** A member that the model requires and that a message omits at its default. */
interface RequiredMember {
  readonly name: string;
  readonly make: () => unknown;
}

/** One message, prepared for reading and writing. */
export interface MessagePlan {
  readonly typeName: string;
  /** In the order of their numbers. */
  readonly fields: readonly FieldPlan[];
  /** The same fields, each at the index of its number. */
  readonly byNumber: readonly (FieldPlan | undefined)[];
  readonly required: readonly RequiredMember[];
}

const plans = new Map<string, MessagePlan>();

/** The plan of a message, cached. */
export function planOf(message: DescMessage): MessagePlan {
  const known = plans.get(message.typeName);
  if (known !== undefined) return known;
  const fields = message.fields.map((field) => fieldPlan(field)).sort((a, b) => a.tag - b.tag);
  const byNumber: (FieldPlan | undefined)[] = [];
  for (const field of fields) {
    while (byNumber.length < field.tag >>> 3) byNumber.push(undefined);
    byNumber.push(field);
  }
  const plan = { typeName: message.typeName, fields, byNumber, required: requiredMembers(message) };
  plans.set(message.typeName, plan);
  return plan;
}

/** The row of the model for a message of the same name. Most messages of both versions have one. */
function membersOf({ name }: DescMessage) {
  return Object.hasOwn(TYPE_TABLE, name) ? TYPE_TABLE[name as TypeName].members : [];
}

function requiredMembers(message: DescMessage): readonly RequiredMember[] {
  return membersOf(message).flatMap(({ name, required, form }) => {
    const isField = message.fields.some(({ jsonName }) => jsonName === name);
    return isField && required && defaultOf(form) !== undefined ? [{ name, make: () => defaultOf(form) }] : [];
  });
}

function fieldPlan(field: DescField): FieldPlan {
  const { jsonName: name, number, oneof, parent } = field;
  const { type, message } = typeOf(field);
  const form = membersOf(parent).find((member) => member.name === name)?.form;
  const names = field.enum?.values.map((value) => [value.number, value.name] as const) ?? [];
  return {
    name,
    type,
    tag: tagOf(number, field.fieldKind === 'map' ? LENGTH_DELIMITED : WIRE_TYPES[type]),
    holds: field.fieldKind === 'list' || field.fieldKind === 'map' ? field.fieldKind : 'one',
    presence: field.presence === FeatureSet_FieldPresence.EXPLICIT,
    zeroIsAbsent: form?.is === 'integer' && form.minimum > 0,
    rivals: oneof?.fields.filter((other) => other !== field).map((other) => other.jsonName) ?? [],
    message: () => {
      if (message === undefined) throw new Error(`${field.toString()} has no message`);
      return planOf(message);
    },
    names: new Map(names),
    numbers: new Map(names.map(([value, label]) => [label, value])),
  };
}

const WIRE_TYPES: { readonly [Type in FieldType]: number } = {
  string: LENGTH_DELIMITED,
  bytes: LENGTH_DELIMITED,
  bool: VARINT,
  int32: VARINT,
  enum: VARINT,
  message: LENGTH_DELIMITED,
  timestamp: LENGTH_DELIMITED,
  struct: LENGTH_DELIMITED,
  value: LENGTH_DELIMITED,
};

const WELL_KNOWN: Readonly<Record<string, FieldType>> = {
  'google.protobuf.Struct': 'struct',
  'google.protobuf.Value': 'value',
  'google.protobuf.Timestamp': 'timestamp',
};

const SCALARS: { readonly [Type in ScalarType]?: FieldType } = {
  [ScalarType.STRING]: 'string',
  [ScalarType.BYTES]: 'bytes',
  [ScalarType.BOOL]: 'bool',
  [ScalarType.INT32]: 'int32',
};

function typeOf(field: DescField): { readonly type: FieldType; readonly message?: DescMessage } {
  if (field.enum !== undefined) return { type: 'enum' };
  if (field.message !== undefined) {
    return { type: WELL_KNOWN[field.message.typeName] ?? 'message', message: field.message };
  }
  const type = field.scalar === undefined ? undefined : SCALARS[field.scalar];
  if (type === undefined) throw new Error(`${field.toString()} has a type without a plan`);
  return { type };
}
