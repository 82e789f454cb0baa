import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Reads the schema modules of a folder. Every named schema appears once. Other schemas refer to it (`#/$defs/Name`).
 * Also returns the names of the alternatives of each union, and the comments over schemas (`Task`) and over their
 * members (`Task.id`).
 */
export async function readSchemas(folder) {
  const modules = [];
  const comments = new Map();
  for (const file of (await readdir(folder)).sort()) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts') || file.endsWith('.generated.ts')) continue;
    const source = await readFile(join(folder, file), 'utf8');
    if (!/from 'typebox'/.test(source)) continue;
    modules.push(file);
    readComments(source, comments);
  }
  const result = await build({
    stdin: {
      contents: modules.map((file) => `export * from './${file}';`).join('\n'),
      resolveDir: folder,
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
    logLevel: 'silent',
  });
  const url = `data:text/javascript;base64,${Buffer.from(result.outputFiles[0].text).toString('base64')}`;
  const definitions = new Map();
  const unions = new Map();
  for (const value of Object.values(await import(url))) {
    if (typeof value !== 'object' || value === null || typeof value.$id !== 'string') continue;
    hoist(value, definitions);
    if (value.anyOf !== undefined)
      unions.set(
        value.$id,
        value.anyOf.map(({ $id }) => $id),
      );
  }
  return { definitions, unions, comments };
}

function readComments(source, comments) {
  const COMMENT = String.raw`\/\*\*(?:(?!\*\/)[\s\S])*\*\/`;
  const declarations = new RegExp(`(${COMMENT}\\n)?(?:export )?const (\\w+)Schema = ([\\s\\S]*?;\\n)`, 'g');
  for (const [, comment, name, body] of source.matchAll(declarations)) {
    if (comment !== undefined) comments.set(name, comment.trim());
    for (const [, about, member] of body.matchAll(new RegExp(`(${COMMENT})\\n  (\\w+):`, 'g')))
      comments.set(`${name}.${member}`, about);
  }
}

/** The definitions that these names need, including their own, by name. */
export function reachable(definitions, names) {
  const found = new Map();
  const visit = (name) => {
    if (found.has(name)) return;
    const schema = definitions.get(name);
    if (schema === undefined) throw new Error(`no schema named ${name}`);
    found.set(name, schema);
    for (const [, inner] of JSON.stringify(schema).matchAll(/"#\/\$defs\/(\w+)"/g)) visit(inner);
  };
  for (const name of names) visit(name);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The schema as plain JSON. Every named schema inside moves to `definitions`. A named schema becomes a reference. */
function hoist(schema, definitions) {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, definitions));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $id, ...members } = schema;
  const plain = {};
  for (const [name, value] of Object.entries(members)) plain[name] = hoist(value, definitions);
  if ($id === undefined) return plain;
  const known = definitions.get($id);
  if (known === undefined) definitions.set($id, mergeUnion(plain, definitions));
  else if (JSON.stringify(known) !== JSON.stringify(mergeUnion(plain, definitions)))
    throw new Error(`two schemas named ${$id}`);
  return { $ref: `#/$defs/${$id}` };
}

/**
 * Merges a union of closed objects into one closed object. Each alternative has one required member of its own, so the
 * result has exactly one of these members. The validator then decides by that member instead of trying every
 * alternative.
 */
function mergeUnion(schema, definitions) {
  if (schema.anyOf === undefined) return schema;
  const alternatives = schema.anyOf.map(({ $ref }) => definitions.get($ref.replace('#/$defs/', '')));
  const properties = {};
  const oneOf = [];
  for (const alternative of alternatives) {
    if (alternative.additionalProperties !== false || alternative.required?.length !== 1)
      throw new Error('cannot tell apart');
    oneOf.push({ required: alternative.required });
    for (const [name, value] of Object.entries(alternative.properties)) {
      if (name in properties && JSON.stringify(properties[name]) !== JSON.stringify(value))
        throw new Error(`two forms of ${name}`);
      properties[name] = value;
    }
  }
  if (new Set(oneOf.map(({ required }) => required[0])).size !== oneOf.length) throw new Error('cannot tell apart');
  return { type: 'object', properties, additionalProperties: false, oneOf };
}
