/**
 * The definitions as rows of members, for code that walks a value along its type. The output of Ajv does not tell which
 * member is wrong and what it should be.
 */
export function typeTable(definitions) {
  return Object.fromEntries([...definitions].map(([name, schema]) => [name, typeRow(schema)]));
}

function typeRow({ properties, required = [], oneOf }) {
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    required: required.includes(name),
    form: valueForm(schema),
  }));
  return oneOf === undefined ? { members } : { members, exactlyOne: oneOf.map(({ required: [name] }) => name) };
}

function valueForm(schema) {
  if (schema.$ref !== undefined) return { is: 'object', type: schema.$ref.replace('#/$defs/', '') };
  if (schema.format !== undefined) return { is: schema.format };
  if (schema.enum !== undefined) {
    const numbered = schema.enum[0].endsWith('_UNSPECIFIED');
    return { is: 'enum', names: schema.enum, numbered, zero: schema.not === undefined };
  }
  switch (schema.type) {
    case undefined:
      return { is: 'json' };
    case 'string':
      return { is: 'string', nonEmpty: schema.minLength === 1 };
    case 'integer':
      return { is: 'integer', minimum: schema.minimum, maximum: schema.maximum };
    case 'boolean':
      return { is: 'boolean' };
    case 'array':
      return { is: 'list', of: valueForm(schema.items), nonEmpty: schema.minItems === 1 };
    case 'object':
      return schema.additionalProperties === undefined
        ? { is: 'free' }
        : { is: 'map', of: valueForm(schema.additionalProperties) };
    default:
      throw new Error(`no form for ${JSON.stringify(schema)}`);
  }
}
