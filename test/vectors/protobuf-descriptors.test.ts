import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DescField, type DescFile, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { a2aV1A2a, lfA2aV1A2a } from '../../packages/parley/src/codec/protobuf/descriptors.generated.js';

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
  ['1.0', lfA2aV1A2a],
  ['0.3', a2aV1A2a],
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

// Without protoc there is nothing to compare with. The tables above hold the descriptors anyway.
const hasProtoc = spawnSync('protoc', ['--version']).status === 0;

describe.runIf(hasProtoc)('the committed descriptors', () => {
  test('are those of the .proto files', () => {
    const script = join(root, 'packages/parley/scripts/generate-protobuf.mjs');
    expect(() => execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe' })).not.toThrow();
  });
});

function enumsOf({ enums }: DescFile): Definition['enums'] {
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
