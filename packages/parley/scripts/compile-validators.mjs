import { Ajv } from 'ajv';
import { _, Name } from 'ajv/dist/compile/codegen/index.js';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';

/** Hand-written checks for the validators, beside the generated file. */
const CHECKS = {
  isBase64: './base64.js',
  isTimestamp: './timestamp.js',
  jsonFault: './json-fault.js',
};

/** The source of an ES module that exports `is<Name>` for every name. The code does not need Ajv. */
export async function compileValidators(definitions, names) {
  const ajv = new Ajv({
    code: { source: true, esm: true, lines: true },
    messages: false,
    strict: true,
    schemas: [...definitions].map(([name, schema]) => ({ $id: name, ...prepare(schema) })),
    keywords: [
      keyword('string', 'nonEmpty', ({ data }) => _`${data} === ""`),
      keyword('string', 'wellFormed', ({ data }) => _`!${data}.isWellFormed()`),
      keyword('string', 'base64', ({ data }) => _`!${new Name('isBase64')}(${data})`),
      keyword('string', 'timestamp', ({ data }) => _`!${new Name('isTimestamp')}(${data})`),
      keyword('object', 'names', ({ data }) => _`!Object.keys(${data}).every(${new Name('isWellFormed')})`),
      keyword(
        'object',
        'exactlyOne',
        ({ data, schema }) =>
          _`${schema.map((name) => _`(${data}.${new Name(name)} !== undefined)`).reduce((a, b) => _`${a} + ${b}`)} !== 1`,
      ),
      keyword(undefined, 'json', ({ data }) => _`${new Name('jsonFault')}(${data}) !== undefined`),
    ],
  });
  const imports = Object.entries(CHECKS).map(([name, from]) => `import { ${name} } from '${from}';`);
  const exports = Object.fromEntries(names.map((name) => [`is${name}`, name]));
  const written = standalone.default(ajv, exports);
  const result = await build({
    stdin: {
      contents: `${imports.join('\n')}\nconst isWellFormed = (text) => text.isWellFormed();\n${withoutErrors(written)}`,
      resolveDir: import.meta.dirname,
      loader: 'js',
    },
    bundle: true,
    external: Object.values(CHECKS),
    format: 'esm',
    target: 'es2023',
    minifySyntax: true,
    write: false,
    logLevel: 'silent',
  });
  const source = result.outputFiles[0].text;
  const leftover = /\brequire\s*\(|\bnew Function\b|\beval\s*\(|from\s*["'](?!\.\/)|["']ajv/.exec(source);
  if (leftover !== null) throw new Error(`the validators still hold ${leftover[0]}`);
  return source;
}

/**
 * The same validators without their lists of errors, which nothing reads: `violations.ts` finds the wrong member. Each
 * then returns at the first fault, passes no path on, and the source is a third as long.
 */
function withoutErrors(source) {
  const changed = source
    .replace(/^(function validate\d+\(data), \{.*\}=\{\}\)\{$/gm, '$1){')
    .replace(/^validate\d+\.errors = .*;\n/gm, '')
    .replace(
      /^(if\(!\(validate\d+\(.*), \{instancePath:.*,rootData\}\)\)\)\{\nvErrors = .*;\nerrors = .*;$/gm,
      '$1))){\nreturn false;',
    )
    .replace(/^(?:let (?:vErrors|errors) = .*|const _errs\d+ = errors|var valid\d+ = .*);\n/gm, '')
    .replace(/^if\((?:errors === (?:_errs\d+|0)|_errs\d+ === errors|valid\d+)\)\{$/gm, '{')
    .replace(/^if\(!valid\d+\)\{\nbreak;\n\}\n/gm, '')
    .replace(/^return errors === 0;$/gm, 'return true;');
  const leftover = /instancePath|vErrors|\berrors\b|\bvalid\d|_errs\d/.exec(changed);
  if (leftover !== null) throw new Error(`the validators still have ${leftover[0]}`);
  return changed;
}

/** A keyword for values of one type, or of any type, that fails on a condition. */
function keyword(type, name, condition) {
  return { keyword: name, ...(type === undefined ? {} : { type }), code: (cxt) => cxt.fail(condition(cxt)) };
}

/** The schema, with its slow or incomplete parts replaced by these keywords. */
function prepare(schema) {
  if (Array.isArray(schema)) return schema.map(prepare);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema.$ref !== undefined) return { $ref: schema.$ref.replace('#/$defs/', '') };
  if (Object.keys(schema).length === 0) return { json: true };
  const { properties, additionalProperties, oneOf, items, format, minLength, not, ...rest } = schema;
  if (format !== undefined) return { ...rest, [format]: true };
  if (rest.enum !== undefined) return { enum: rest.enum.filter((name) => name !== not?.const) };
  if (rest.type === 'string') return { ...rest, ...(minLength === 1 ? { nonEmpty: true } : {}), wellFormed: true };
  if (rest.type === 'array') return { ...rest, items: prepare(items) };
  if (rest.type !== 'object') return rest;
  if (properties === undefined && additionalProperties === undefined) return { ...rest, json: true };
  if (properties === undefined) return { ...rest, names: true, additionalProperties: prepare(additionalProperties) };
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, prepare(value)])),
    additionalProperties,
    ...(oneOf === undefined ? {} : { exactlyOne: oneOf.map(({ required }) => required[0]) }),
  };
}
