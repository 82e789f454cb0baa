// Compiles the schemas of src/model into the *.generated.ts files beside them. Runs before tsc. Takes no arguments.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileValidators } from './compile-validators.mjs';
import { modelTypes } from './model-types.mjs';
import { reachable, readSchemas } from './schema-bundle.mjs';
import { typeTable } from './type-table.mjs';

/** Types that code validates by name. All other types are parts of these. */
const ROOTS = [
  'AgentCapabilities',
  'AgentCard',
  'AgentSkill',
  'Artifact',
  'CancelTaskRequest',
  'CreateTaskPushNotificationConfigRequest',
  'DeleteTaskPushNotificationConfigRequest',
  'GetExtendedAgentCardRequest',
  'GetTaskPushNotificationConfigRequest',
  'GetTaskRequest',
  'ListTaskPushNotificationConfigsRequest',
  'ListTaskPushNotificationConfigsResponse',
  'ListTasksRequest',
  'ListTasksResponse',
  'Message',
  'Part',
  'SecurityRequirement',
  'SecurityScheme',
  'SendMessageRequest',
  'SendMessageResponse',
  'StreamResponse',
  'SubscribeToTaskRequest',
  'Task',
  'TaskArtifactUpdateEvent',
  'TaskPushNotificationConfig',
  'TaskStatusUpdateEvent',
];

/** Of these, types on the path of messages. The type table validates the rest, in 2 kB less of code. */
const COMPILED = [
  'Artifact',
  'CancelTaskRequest',
  'GetTaskRequest',
  'ListTasksRequest',
  'Message',
  'Part',
  'SendMessageRequest',
  'SendMessageResponse',
  'StreamResponse',
  'SubscribeToTaskRequest',
  'Task',
];

const started = performance.now();
const folder = join(import.meta.dirname, '../src/model');
const schemas = await readSchemas(folder);
const definitions = reachable(schemas.definitions, ROOTS);
const validators = await compileValidators(definitions, COMPILED);
const head = '// Written by scripts/compile-schemas.mjs from the schemas of this folder.\n';

await Promise.all([
  write('protocol-types.generated.ts', modelTypes(schemas)),
  write('validators.generated.ts', `// @ts-nocheck\n${typed(validators)}`),
  write(
    'type-table.generated.ts',
    [
      "import type { TypeRow } from './type-row.js';",
      `export type TypeName = ${[...definitions.keys()].map((name) => `'${name}'`).join(' | ')};`,
      `export const TYPE_TABLE: Readonly<Record<TypeName, TypeRow>> = ${JSON.stringify(typeTable(definitions), null, 1)};`,
    ].join('\n'),
  ),
  write(
    'json-schema.generated.ts',
    [
      "import type { TypeName } from './type-table.generated.js';",
      '/** Every type of the protocol as JSON Schema 2020-12; the formats are `base64` and `timestamp`. */',
      // Without a type of its own, the declaration would repeat the whole value.
      'export const JSON_SCHEMA: { readonly $defs: Readonly<Record<TypeName, object>> } =',
      `${JSON.stringify({ $defs: Object.fromEntries(definitions) }, null, 1)};`,
    ].join('\n'),
  ),
]);
process.stdout.write(`${COMPILED.length} validators compiled in ${Math.round(performance.now() - started)} ms\n`);

/** Writes a file only if it changes, and atomically, because builds and tests may be reading it. */
async function write(file, source) {
  const path = join(folder, file);
  const text = `${head}${source}\n`;
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return;
  const half = `${path}.${process.pid}.half`;
  await writeFile(half, text);
  await rename(half, path);
}

/** The module, with the types of the model on its exports. */
function typed(source) {
  const lines = source.replace(/export\s*\{[^}]*\};?\s*$/, '').replace(/(["'])use strict\1;\n/, '');
  const types = ROOTS.map((name) => `  readonly ${name}: ${name};`);
  return [
    `import type { ${ROOTS.join(', ')} } from './protocol-types.generated.js';`,
    '/** The types that have a validator, by name. */',
    `export interface ModelTypes {\n${types.join('\n')}\n}`,
    lines,
    '/** Checks that a value is exactly of a type: no unknown members, no other spellings. */',
    'export const COMPILED = {',
    ...COMPILED.map((name) => `  ${name}: ${exportedAs(source, `is${name}`)},`),
    `} as unknown as { readonly [Name in ${COMPILED.map((name) => `'${name}'`).join(' | ')}]: (value: unknown) => value is ModelTypes[Name] };`,
  ].join('\n');
}

function exportedAs(source, name) {
  const local = new RegExp(`(\\w+) as ${name}\\b`).exec(source)?.[1];
  return local ?? name;
}
