import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DescField, type DescFile, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import * as traversal from '../../examples/agents/src/traversal-descriptors.generated.js';
import * as descriptors from '../../packages/grpc/src/protobuf/descriptors.generated.js';

const root = join(import.meta.dirname, '../..');

/** The definition of one version as a table. */
interface Definition {
  readonly package: string;
  readonly enums: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly messages: Readonly<Record<string, { readonly fields: readonly FieldRow[] }>>;
  readonly services: Readonly<Record<string, readonly MethodRow[]>>;
}

interface FieldRow {
  readonly number: number;
  readonly name: string;
  readonly json: string;
  readonly type?: string;
  readonly map?: { readonly key: string; readonly value: string };
  readonly repeated?: true;
  readonly optional?: true;
  readonly oneof?: string;
}

interface MethodRow {
  readonly rpc: string;
  readonly request: string;
  readonly response: string;
  readonly serverStreaming: boolean;
}

describe.each([
  ['1.0', descriptors.lfA2aV1A2a],
  ['0.3', descriptors.a2aV1A2a],
])('the definition of version %s (Spec §10)', (version, file) => {
  const wanted = JSON.parse(readFileSync(join(import.meta.dirname, `proto/a2a-${version}.json`), 'utf8')) as Definition;

  test('has the package, and the names and numbers of all enums', () => {
    expect(file.proto.package).toBe(wanted.package);
    expect(enumsOf(file)).toEqual(wanted.enums);
  });

  test('has exactly the messages, with all fields', () => {
    expect(file.messages.map(({ typeName }) => typeName).sort()).toEqual(Object.keys(wanted.messages).sort());
    for (const message of file.messages) {
      expect(fieldsOf(message), message.typeName).toEqual(byNumber(wanted.messages[message.typeName]?.fields ?? []));
      expect(message.nestedMessages.filter(({ proto }) => !proto.options?.mapEntry)).toEqual([]);
    }
  });

  test('has the service with its methods', () => {
    const services = file.services.map(({ typeName, methods }) => [typeName, methods.map(methodRow).sort(byName)]);
    expect(Object.fromEntries(services)).toEqual(
      Object.fromEntries(Object.entries(wanted.services).map(([name, rows]) => [name, [...rows].sort(byName)])),
    );
  });
});

/** The committed descriptors, by the folder of their .proto files. */
const COMMITTED = [
  ['packages/grpc/proto', Object.values(descriptors)],
  ['examples/agents/proto', Object.values(traversal)],
] as const;

describe.each(COMMITTED)('the descriptors of %s', (folder, files) => {
  const sources = join(root, folder);
  const names = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.proto'));

  test('are those of all .proto files, and of no other', () => {
    expect(files.map(({ proto }) => proto.name).sort()).toEqual(names.sort());
  });

  test.each(files.map((file) => [file.proto.name, file] as const))('say what %s says', (name, file) => {
    const all = new protobuf.Root();
    all.resolvePath = (_, target) => (target.startsWith('google/protobuf/') ? target : join(sources, target));
    all.loadSync(name, { keepCase: true }).resolveAll();
    const own = contentsOf(all.lookup(file.proto.package) as protobuf.Namespace);
    const messages = withNested(file.messages);
    expect(messages.map(({ typeName }) => typeName).sort()).toEqual(Object.keys(own.messages).sort());
    for (const message of messages) {
      expect(fieldsOf(message), message.typeName).toEqual(own.messages[message.typeName]);
    }
    const nested = messages.flatMap(({ nestedEnums }) => nestedEnums);
    expect(enumsOf({ enums: [...file.enums, ...nested] })).toEqual(own.enums);
    const services = file.services.map(({ typeName, methods }) => [
      typeName,
      Object.fromEntries(
        methods.map(({ name: rpc, input, output, methodKind }) => [
          rpc,
          { input: input.typeName, output: output.typeName, methodKind },
        ]),
      ),
    ]);
    expect(Object.fromEntries(services)).toEqual(own.services);
  });
});

/** The definitions in a package, as another reader of .proto files understands them. */
function contentsOf(space: protobuf.Namespace) {
  const own = allIn(space);
  const messages = own.filter((one) => one instanceof protobuf.Type);
  const enums = own.filter((one) => one instanceof protobuf.Enum);
  const services = own.filter((one) => one instanceof protobuf.Service);
  return {
    messages: Object.fromEntries(messages.map((one) => [nameOf(one), sourceFields(one)])),
    enums: Object.fromEntries(enums.map((one) => [nameOf(one), one.values])),
    services: Object.fromEntries(
      services.map((one) => [nameOf(one), Object.fromEntries(one.methodsArray.map((rpc) => [rpc.name, kindOf(rpc)]))]),
    ),
  };
}

/** Everything in a package or a message, at any depth. */
function allIn(space: protobuf.NamespaceBase): readonly protobuf.ReflectionObject[] {
  return space.nestedArray.flatMap((one) => (one instanceof protobuf.Namespace ? [one, ...allIn(one)] : [one]));
}

/** Messages and those within them, without the entries of maps. */
function withNested(messages: readonly DescMessage[]): readonly DescMessage[] {
  const own = messages.filter(({ proto }) => proto.options?.mapEntry !== true);
  return own.flatMap((message) => [message, ...withNested(message.nestedMessages)]);
}

const nameOf = (one: protobuf.ReflectionObject) => one.fullName.slice(1);

function kindOf({ resolvedRequestType, resolvedResponseType, requestStream, responseStream }: protobuf.Method) {
  const [asks, answers] = [requestStream === true, responseStream === true];
  const methodKind = asks ? (answers ? 'bidi_streaming' : 'client_streaming') : answers ? 'server_streaming' : 'unary';
  const [input, output] = [resolvedRequestType, resolvedResponseType].map((one) => one && nameOf(one));
  return { input, output, methodKind };
}

function sourceFields({ fieldsArray }: protobuf.Type): readonly FieldRow[] {
  return byNumber(
    fieldsArray.map((field) => {
      const { id: number, name, repeated, partOf, options } = field;
      const type = field.resolvedType === null ? field.type : nameOf(field.resolvedType);
      const json = String(options?.json_name ?? jsonNameOf(name));
      if (field instanceof protobuf.MapField) return { number, name, json, map: { key: field.keyType, value: type } };
      const isOptional = options?.proto3_optional === true;
      return {
        number,
        name,
        json,
        type,
        ...(repeated && { repeated: true as const }),
        ...(isOptional && { optional: true as const }),
        ...(partOf !== null && !isOptional && { oneof: partOf.name }),
      };
    }),
  );
}

/** The name of a field in JSON, by the rule of protobuf. */
function jsonNameOf(name: string): string {
  return name.replaceAll(/_+([a-z0-9])?/g, (_, letter = '') => letter.toUpperCase());
}

function enumsOf({ enums }: Pick<DescFile, 'enums'>): Definition['enums'] {
  return Object.fromEntries(
    enums.map(({ typeName, values }) => [
      typeName,
      Object.fromEntries(values.map(({ name, number }) => [name, number])),
    ]),
  );
}

function fieldsOf({ fields }: DescMessage): readonly FieldRow[] {
  return byNumber(
    fields.map((field) => {
      const { number, name, jsonName: json, fieldKind, oneof } = field;
      if (fieldKind === 'map')
        return { number, name, json, map: { key: scalarName(field.mapKey), value: typeOf(field) } };
      return {
        number,
        name,
        json,
        type: typeOf(field),
        ...(fieldKind === 'list' && { repeated: true as const }),
        ...(isOptional(field) && { optional: true as const }),
        ...(oneof !== undefined && { oneof: oneof.name }),
      };
    }),
  );
}

/** True for a field that has presence by `optional` only. */
function isOptional({ presence, oneof, fieldKind }: DescField): boolean {
  const told = presence === FeatureSet_FieldPresence.EXPLICIT;
  return told && oneof === undefined && (fieldKind === 'scalar' || fieldKind === 'enum');
}

function typeOf({ message, enum: values, scalar }: DescField): string {
  return message?.typeName ?? values?.typeName ?? scalarName(scalar);
}

function scalarName(scalar: ScalarType | undefined): string {
  return scalar === undefined ? '' : ScalarType[scalar].toLowerCase();
}

function methodRow(method: DescFile['services'][number]['methods'][number]): MethodRow {
  const { name: rpc, input, output, methodKind } = method;
  const serverStreaming = methodKind === 'server_streaming';
  if (!serverStreaming) expect(methodKind).toBe('unary');
  return { rpc, request: input.typeName, response: output.typeName, serverStreaming };
}

function byNumber(rows: readonly FieldRow[]): readonly FieldRow[] {
  return [...rows].sort((a, b) => a.number - b.number);
}

function byName(a: MethodRow, b: MethodRow): number {
  return a.rpc < b.rpc ? -1 : 1;
}
