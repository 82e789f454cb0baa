import { connect, createA2AServer, type Message } from 'parley-a2a';
import { agentSchemas } from 'parley-a2a/schemas';
import { jsonSchema } from 'parley-a2a/tools';
import { describe, expect, it } from 'vitest';

const DRAFT_7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const createSchemas = (schema: unknown) => agentSchemas({ input: schema as never });

describe('a schema that is wrong itself is refused when it is given', () => {
  it.each([
    ['a type that JSON has not', { type: 'objekt' }, '#/type must be a type of JSON; did you mean "object"?'],
    ['a list with such a type', { type: ['string', 'nul'] }, '#/type/1 must be a type of JSON; did you mean "null"?'],
    ['a type of another language', { type: 'dict' }, '#/type must be a type of JSON'],
    ['a text for a list', { required: 'city' }, '#/required must be array'],
    ['a wrong schema below', { properties: { city: { type: 'strng' } } }, '#/properties/city/type'],
    ['a wrong schema in a list', { anyOf: [true, { minLength: '3' }] }, '#/anyOf/1/minLength must be integer'],
    ['a wrong schema that only a reference meets', { $defs: { a: { enum: 'x' } } }, '#/$defs/a/enum must be array'],
    ['an empty list of schemas', { allOf: [] }, '#/allOf must not have fewer than 1 items'],
    ['a text for a schema', { additionalProperties: 'no' }, '#/additionalProperties must be either object or boolean'],
    ['a step of zero', { multipleOf: 0 }, '#/multipleOf must be > 0'],
    ['a list of items, which draft 7 has', { items: [{}] }, '#/items must be either object or boolean'],
    ['a wrong schema of draft 7', { ...DRAFT_7, items: [{ type: 'int' }] }, '#/items/0/type must be a type of JSON'],
    ['a version that is not known', { $schema: 'https://example.com/other' }, '#/$schema must be one of'],
    ['a pattern that cannot be read', { pattern: '(' }, '#/pattern'],
    ['a name with a slash', { properties: { 'a/b~': { type: 1 } } }, '#/properties/a~1b~0/type'],
    ['a number', 7, 'must be a schema'],
    ['a list', [], 'must be a schema'],
    ['null', null, 'must be a schema'],
  ])('%s', (_name, schema, fault) => {
    expect(() => createSchemas(schema)).toThrow(`agentSchemas: input: ${fault}`);
  });

  it('also for a tool', () => {
    expect(() => jsonSchema({ type: 'objekt' })).toThrow('#/type must be a type of JSON; did you mean "object"?');
    expect(() => jsonSchema({ properties: { city: { required: true } } })).toThrow('#/properties/city/required');
    expect(jsonSchema({ ...DRAFT_7, items: [{ type: 'string' }] })).toBeDefined();
  });
});

describe('true and false are schemas', () => {
  async function takes(schema: unknown, data: unknown): Promise<boolean> {
    const server = createA2AServer({ agent: () => 'done', schemas: createSchemas(schema) });
    try {
      const client = await connect((await server.listen(0)).url);
      const sent = client.sendMessage({ message: { parts: [{ data }] } as unknown as Message });
      return await sent.then(
        () => true,
        (error: { code?: string }) => (error.code === 'INVALID_PARAMS' ? false : Promise.reject(error)),
      );
    } finally {
      await server.close({ graceMs: 0 });
    }
  }

  it.each([
    ['the whole', true, { a: 1 }, true],
    ['the whole', false, { a: 1 }, false],
    ['a member', { properties: { a: true } }, { a: 1 }, true],
    ['a member', { properties: { a: false } }, { a: 1 }, false],
    ['further members', { additionalProperties: false }, { a: 1 }, false],
    ['items', { items: false }, [1], false],
    ['items in a row', { prefixItems: [true, false] }, [1, 2], false],
    ['contained items', { contains: true }, [1], true],
    ['names', { propertyNames: false }, { a: 1 }, false],
    ['all of', { allOf: [true, false] }, 1, false],
    ['any of', { anyOf: [false, true] }, 1, true],
    ['one of', { oneOf: [true, true] }, 1, false],
    ['not', { not: true }, 1, false],
    ['a condition', JSON.parse('{ "if": true, "then": false }'), 1, false],
    ['schemas that depend on members', { dependentSchemas: { a: false } }, { a: 1 }, false],
    ['a reference', { $ref: '#/$defs/never', $defs: { never: false } }, 1, false],
    ['items of draft 7', { ...DRAFT_7, items: [true], additionalItems: false }, [1, 2], false],
    ['dependencies of draft 7', { ...DRAFT_7, dependencies: { a: false } }, { a: 1 }, false],
  ])('%s is %j', async (_place, schema, data, expected) => {
    expect(await takes(schema, data)).toBe(expected);
  });

  it('and are published as they are', async () => {
    const server = createA2AServer({ agent: () => 'done', schemas: createSchemas(true) });
    const { url } = await server.listen(0);
    const answer = await fetch(new URL('/schemas/input', url));
    expect([answer.headers.get('content-type'), await answer.json()]).toEqual(['application/schema+json', true]);
    await server.close({ graceMs: 0 });
  });
});
