import { A2AError, type AgentExecutor, connect, createA2AServer, type Message } from 'parley-a2a';
import type { A2AServerOptions } from 'parley-a2a/node';
import { type AgentSchemasOptions, agentSchemas, SCHEMAS_EXTENSION } from 'parley-a2a/schemas';
import { grpcBinding, grpcTransport } from 'parley-a2a-grpc';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CapturingLogger } from '../../packages/parley/test/engine.js';

const ORDER = {
  type: 'object',
  required: ['items'],
  properties: {
    items: { type: 'array', items: { type: 'object', properties: { price: { type: 'number' } } } },
    code: { type: 'string', pattern: '^[A-Z]{2}-[0-9]+$' },
  },
};
/** 2^20 schemas in a few lines. */
function laughs(twice: (one: object) => object) {
  const levels = Array.from({ length: 21 }, (_, at) => [
    `l${at}`,
    at === 20 ? { minProperties: 1 } : twice({ $ref: `#/$defs/l${at + 1}` }),
  ]);
  return { $ref: '#/$defs/l0', $defs: Object.fromEntries(levels) };
}
const WEATHER = 'https://example.com/ext/weather';

const echo: AgentExecutor = {
  async execute({ message }, events) {
    await events.artifact(message.parts);
    await events.complete({ parts: [{ text: 'done' }], ...(message.metadata && { metadata: message.metadata }) });
  },
};

async function serveAgent(
  schemas: AgentSchemasOptions,
  agent: AgentExecutor = echo,
  more: Partial<A2AServerOptions> = {},
) {
  const logger = new CapturingLogger();
  const options = {
    agent,
    logger,
    schemas: agentSchemas(schemas),
    bindings: [grpcBinding({ port: 0, listed: 'public' })],
    ...more,
  };
  const server = createA2AServer(options as A2AServerOptions);
  const { url } = await server.listen(0);
  return { server, url, logger, [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }) };
}

const sendParams = (part: object, metadata?: object) => ({
  message: { parts: [part], ...(metadata && { metadata }) } as unknown as Message,
});

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('data parts over %s', (binding) => {
  const clientOf = (url: string) => connect(url, { prefer: [binding], bindings: [grpcTransport()] } as object);

  it('that fit are taken, others are refused with their field', async () => {
    await using world = await serveAgent({ input: ORDER });
    const client = await clientOf(world.url);
    expect(client.agentInterface.protocolBinding).toBe(binding);
    const taken = await client.ask(sendParams({ data: { items: [{ price: 1 }], code: 'AB-12' } }));
    expect(taken).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const refused = client.sendMessage(sendParams({ data: { items: [{ price: 1 }, { price: 'free' }] } }));
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      details: { violations: [{ field: 'message.parts[0].data.items[1].price' }] },
    });
    const stream = client.sendStreamingMessage(sendParams({ data: {} }));
    await expect(stream.next()).rejects.toMatchObject({
      details: { violations: [{ field: 'message.parts[0].data' }] },
    });
  });

  it('metadata of an extension are refused or stripped', async () => {
    const schemas = { message: { type: 'object', properties: { place: { type: 'string' } } } };
    const metadata = { [WEATHER]: { place: 7 }, other: true };
    {
      await using world = await serveAgent({ extensions: [{ uri: WEATHER, schemas }] });
      const client = await clientOf(world.url);
      const refused = await client.sendMessage(sendParams({ text: 'hi' }, metadata)).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(A2AError);
      expect((refused as A2AError).details.violations?.[0]?.field).toBe(`message.metadata["${WEATHER}"].place`);
    }
    await using world = await serveAgent({ extensions: [{ uri: WEATHER, schemas, onMismatch: 'strip' }] });
    const client = await clientOf(world.url);
    const answer = await client.ask(sendParams({ text: 'hi' }, metadata));
    expect(answer.task?.status.message?.metadata).toEqual({ other: true });
  });
});

describe('answers of an agent', () => {
  it.each([
    ['an artifact', (events: Parameters<AgentExecutor['execute']>[1]) => events.artifact({ data: { items: 1 } })],
    ['a direct message', (events: Parameters<AgentExecutor['execute']>[1]) => events.message([{ data: { items: 1 } }])],
    [
      'a raw event',
      (events: Parameters<AgentExecutor['execute']>[1]) =>
        events.publish({ artifactUpdate: { artifact: { artifactId: 'a', parts: [{ data: { items: 1 } }] } } }),
    ],
  ])('that do not fit fail the task: %s', async (_name, publish) => {
    await using world = await serveAgent(
      { output: ORDER },
      {
        async execute(_, events) {
          await publish(events);
          await events.complete();
        },
      },
    );
    const answer = await (await connect(world.url)).ask('go');
    expect(answer).toMatchObject({ task: { status: { state: 'TASK_STATE_FAILED' } } });
    expect(JSON.stringify(answer)).not.toContain('must be');
    expect(world.logger.lines.find(({ message }) => message.includes('does not fit'))).toMatchObject({
      fields: { violations: [{ field: expect.stringMatching(/parts\[0\]\.data\.items$/) }] },
    });
  });

  it('lose metadata that do not fit, if these are stripped', async () => {
    await using world = await serveAgent(
      { extensions: [{ uri: WEATHER, schemas: { artifact: { type: 'string' } }, onMismatch: 'strip' }] },
      {
        async execute(_, events) {
          await events.artifact('sunny', { metadata: { [WEATHER]: 1, kept: 2 } });
          await events.complete();
        },
      },
    );
    const answer = await (await connect(world.url)).ask('go');
    expect(answer.task?.artifacts?.[0]?.metadata).toEqual({ kept: 2 });
  });
});

describe('schemas of skills', () => {
  const skills = {
    order: { input: ORDER },
    count: { input: z.object({ n: z.number() }) },
  };

  it('are chosen by the skill that a message names', async () => {
    await using world = await serveAgent({ skills });
    const client = await connect(world.url);
    const sendToSkill = (skill: string, data: object) =>
      client.sendMessage(sendParams({ data }, { [SCHEMAS_EXTENSION]: { skill } })).then(
        () => 'taken',
        (error: A2AError) => error.details.violations?.map(({ field }) => field).join(),
      );
    expect(await sendToSkill('count', { n: 1 })).toBe('taken');
    expect(await sendToSkill('count', { n: 'x' })).toBe('message.parts[0].data.n');
    expect(await sendToSkill('order', { n: 1 })).toBe('message.parts[0].data');
    expect(await sendToSkill('nothing', { n: 1 })).toBe(`message.metadata["${SCHEMAS_EXTENSION}"].skill`);
  });

  it('one of them has to fit a message that names none', async () => {
    await using world = await serveAgent({ skills });
    const client = await connect(world.url);
    await client.sendMessage(sendParams({ data: { n: 1 } }));
    await client.sendMessage(sendParams({ data: { items: [] } }));
    await expect(client.sendMessage(sendParams({ data: { x: 1 } }))).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });
});

it('the card links the schemas, and the host publishes them', async () => {
  await using world = await serveAgent({
    input: ORDER,
    skills: { count: { output: z.object({ n: z.number() }) } },
    extensions: [{ uri: WEATHER, description: 'Weather', schemas: { task: { type: 'string' } } }],
  });
  const { card } = await connect(world.url);
  const entry = (uri: string) => card.capabilities.extensions?.find((one) => one.uri === uri)?.params as never;
  const own = entry(SCHEMAS_EXTENSION) as { input: string; skills: { count: { output: string } } };
  const read = async (url: string) => (await fetch(url)).json();
  expect(await read(own.input)).toEqual(ORDER);
  expect(await read(own.skills.count.output)).toMatchObject({ type: 'object', properties: { n: { type: 'number' } } });
  expect(await read((entry(WEATHER) as { schemas: { task: string } }).schemas.task)).toEqual({ type: 'string' });
  expect((await fetch(own.input)).headers.get('content-type')).toBe('application/schema+json');
});

describe('a schema that refers to itself', () => {
  const nestValue = (levels: number, key: string, end: unknown): unknown =>
    Array.from({ length: levels }).reduce((inner) => ({ [key]: inner }), end);

  /** The fields of a refusal; empty if the data are taken. */
  async function fieldsOf(input: object, data: unknown): Promise<readonly string[]> {
    await using world = await serveAgent({ input: input as never });
    const client = await connect(world.url);
    return await client.sendMessage(sendParams({ data })).then(
      () => [],
      (error: A2AError) =>
        error.details.violations?.map(({ field, description }) => `${field} ${description}`) ?? [error.code],
    );
  }

  it.each([{ additionalProperties: { type: 'number' } }, z.record(z.string(), z.number())])(
    'name the first 8 fields of a part that do not fit',
    async (schema) => {
      const data = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`field${at}`, 'x']));
      const fields = await fieldsOf(schema, data);
      expect(fields.map((field) => field.split(' ')[0])).toEqual(
        Array.from({ length: 8 }, (_, at) => `message.parts[0].data.field${at}`),
      );
    },
  );

  const tree = {
    type: 'object',
    required: ['n'],
    properties: { n: { type: 'number' }, kids: { items: { $ref: '#' } } },
  };
  const value = {
    $ref: '#/$defs/value',
    $defs: {
      value: {
        anyOf: [
          { type: 'string', maxLength: 9 },
          { type: 'array', items: { $ref: '#/$defs/value' } },
          { type: 'object', additionalProperties: { $ref: '#/$defs/value' } },
        ],
      },
    },
  };

  it('checks trees, and names the field', async () => {
    expect(await fieldsOf(tree, { n: 1, kids: [{ n: 2, kids: [{ n: 3 }] }] })).toEqual([]);
    expect(await fieldsOf(tree, { n: 1, kids: [{ n: 2, kids: [{ n: 'x' }] }] })).toEqual([
      'message.parts[0].data.kids[0].kids[0].n must be number',
    ]);
  });

  it('checks values of any form', async () => {
    expect(await fieldsOf(value, { a: [['x', { b: 'y' }]], c: {} })).toEqual([]);
    expect((await fieldsOf(value, { a: [['x', { b: 1 }]] })).length).toBeGreaterThan(0);
    expect(await fieldsOf(value, nestValue(90, 'a', 'x'))).toEqual([]);
    expect(
      await fieldsOf(
        value,
        Array.from({ length: 50_000 }, () => 'x'),
      ),
    ).toEqual([]);
  });

  it('checks data up to a depth', async () => {
    // The wire takes fewer levels. Answers of an agent have not passed it.
    const agent: AgentExecutor = {
      execute: (_, events) => events.message([{ data: nestValue(200, 'a', 'x') as never }]),
    };
    await using world = await serveAgent({ output: value as never }, agent);
    const answer = await (await connect(world.url)).ask('go');
    expect(answer).toMatchObject({ task: { status: { state: 'TASK_STATE_FAILED' } } });
    expect(JSON.stringify(world.logger.lines)).toContain('must have at most 100 levels');
  });

  it('checks deep data only if they are small, if it multiplies its work with each level', async () => {
    const node = { $ref: '#/$defs/node' };
    const twice = {
      ...node,
      $defs: { node: { anyOf: [{ required: ['x'], properties: { a: node } }, { properties: { a: node } }] } },
    };
    expect(await fieldsOf(twice, nestValue(5, 'a', {}))).toEqual([]);
    expect(await fieldsOf(twice, nestValue(60, 'a', {}))).toEqual([
      'message.parts[0].data has too many levels and members for a schema of this kind',
    ]);
  });
});

describe('a schema that needs time', () => {
  const knownNumber = (delay: Promise<unknown> = Promise.resolve()) =>
    z.object({ n: z.number().refine((n) => delay.then(() => n < 10), 'is not known') });

  it.each(['JSONRPC', 'HTTP+JSON'] as const)('checks messages over %s', async (binding) => {
    await using world = await serveAgent({ input: knownNumber() });
    const client = await connect(world.url, { prefer: [binding] } as object);
    await client.sendMessage(sendParams({ data: { n: 1 } }));
    const refused = { details: { violations: [{ field: 'message.parts[0].data.n', description: 'is not known' }] } };
    await expect(client.sendMessage(sendParams({ data: { n: 11 } }))).rejects.toMatchObject(refused);
    await expect(client.sendStreamingMessage(sendParams({ data: { n: 11 } })).next()).rejects.toMatchObject(refused);
  });

  it('keeps the order of events that the agent does not await', async () => {
    const answered = Promise.withResolvers<void>();
    await using world = await serveAgent(
      { output: knownNumber(answered.promise) },
      {
        async execute(_, events) {
          void events.artifact({ data: { n: 1 } }, { artifactId: 'a' });
          void events.append('a', { text: 'two' });
          setImmediate(answered.resolve);
          void events.complete();
        },
      },
    );
    const answer = await (await connect(world.url)).ask('go');
    expect(answer).toMatchObject({
      task: {
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ parts: [{ data: { n: 1 } }, { text: 'two' }] }],
      },
    });
  });

  it('fails a task whose answer does not fit, and one that it does not check in time', async () => {
    const late = { output: knownNumber(new Promise(() => {})), timeoutMs: 20 };
    for (const schemas of [{ output: knownNumber() }, late]) {
      await using world = await serveAgent(schemas, {
        async execute(_, events) {
          void events.artifact({ data: { n: 12 } });
          void events.complete();
        },
      });
      const answer = await (await connect(world.url)).ask('go');
      expect(answer).toMatchObject({ task: { status: { state: 'TASK_STATE_FAILED' } } });
    }
  });

  it('refuses a message that it does not check in time', async () => {
    await using world = await serveAgent({ input: knownNumber(new Promise(() => {})), timeoutMs: 20 });
    const client = await connect(world.url);
    await expect(client.sendMessage(sendParams({ data: { n: 1 } }))).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  });
});

it('metadata of a request have schemas as well', async () => {
  const told: unknown[] = [];
  const schemas = { request: { type: 'object', required: ['place'] } };
  const noting: AgentExecutor = {
    async execute({ metadata }, events) {
      told.push(metadata);
      await events.complete();
    },
  };
  const request = (weather: object) => ({
    ...sendParams({ text: 'hi' }),
    metadata: { [WEATHER]: weather, other: 1 } as never,
  });
  {
    await using world = await serveAgent({ extensions: [{ uri: WEATHER, schemas }] }, noting);
    const client = await connect(world.url);
    await client.sendMessage(request({ place: 'Riga' }));
    const refused = await client.sendMessage(request({})).catch((error: A2AError) => error);
    expect((refused as A2AError).details.violations?.[0]?.field).toBe(`metadata["${WEATHER}"]`);
  }
  await using world = await serveAgent({ extensions: [{ uri: WEATHER, schemas, onMismatch: 'strip' }] }, noting);
  await (await connect(world.url)).ask(request({}));
  expect(told).toEqual([{ [WEATHER]: { place: 'Riga' }, other: 1 }, { other: 1 }]);
});

describe('a schema that could take unbounded time is refused', () => {
  it.each([
    ['counts that multiply', { pattern: '^(?:(?:a{99}){99}){99}$' }],
    ['other flags within a pattern', { pattern: '(?i:a)' }],
    ['a look ahead', { pattern: '(?=a)b' }],
    ['a back reference', { pattern: '(a)\\1' }],
    ['recursion without a member between', { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' }],
    ['recursion of a whole schema on itself', { anyOf: [{ type: 'string' }, { $ref: '#' }] }],
    ['references that multiply', laughs((one) => ({ allOf: [one, one] }))],
    ['dependencies that multiply', laughs((one) => ({ dependencies: { a: one, b: one } }))],
    ['a pattern below a dependency', { dependencies: { pattern: { pattern: '(?=a)' } } }],
    ['a pattern below a keyword that is not known', { 'x-more': { pattern: '(?=a)' } }],
    ['a long pattern', { pattern: 'a'.repeat(513) }],
    ['a reference to data', { default: { type: 'string' }, $ref: '#/default' }],
    ['a reference that leads nowhere', { $ref: '#/$defs/none' }],
    ['a reference that cannot be read', { $ref: '#/%' }],
    ['a base for references', { properties: { a: { $id: 'https://example.com/other' } } }],
    ['a schema elsewhere', { $ref: 'https://example.com/schema' }],
    ['names by a pattern', { patternProperties: { '^a': {} } }],
    ['depth', Array.from({ length: 40 }).reduce<object>((inner) => ({ items: inner }), {})],
    ['compared lists within patterns', { items: { pattern: '(' } }],
    ['size', { description: 'x'.repeat(70_000) }],
  ])('%s', (_name, schema) => {
    expect(() => agentSchemas({ input: schema as never })).toThrow(/^agentSchemas: input: /);
  });

  it.each([
    ['one text', { pattern: 'x*y*z*w*v*$' }, ['xyzw'.repeat(1_000_000)]],
    ['many texts', { pattern: '^(?:x|y)*$' }, Array.from({ length: 1_000 }, () => 'xy'.repeat(2_500))],
    ['a text that must not fit', { not: { pattern: '^(?:x|y)*z$' } }, ['xy'.repeat(2_500_000)]],
    ['one of two patterns', { anyOf: [{ pattern: '^x*y$' }, { pattern: '^[xz]*y?$' }] }, ['x'.repeat(3_000_000)]],
  ])('and the patterns of a schema take a number of steps for all texts together: %s', async (_name, items, texts) => {
    await using world = await serveAgent({ input: { items } }, echo, { limits: { bodyBytes: 20_000_000 } });
    const client = await connect(world.url);
    await expect(client.sendMessage(sendParams({ data: texts }))).rejects.toMatchObject({
      details: {
        violations: [
          { field: 'message.parts[0].data', description: 'has too many characters for the patterns of its schema' },
        ],
      },
    });
    const taken = await client.ask(sendParams({ data: texts.map((text) => text.slice(0, 400)) }));
    expect(taken).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it.each([
    'email',
    'idn-email',
    'uri',
    'uri-reference',
    'iri',
    'uri-template',
    'hostname',
    'idn-hostname',
    'date-time',
    'duration',
    'ipv6',
    'json-pointer',
    'regex',
  ])('and a format costs no more for a hostile text than for a plain one: %s', async (format) => {
    const texts = [
      'a',
      '.',
      'a.',
      'a-',
      '%41',
      '/a',
      ':',
      '[',
      '{a',
      '{a,',
      '(',
      '1',
      '~0',
      '\\"',
      'é',
      'xn--a.',
      'T1:',
      'P1Y',
    ];
    await using world = await serveAgent({ input: { items: { type: 'string', format } } });
    const client = await connect(world.url);
    const measureCpu = async (text: string) => {
      const before = process.cpuUsage();
      await client.sendMessage(sendParams({ data: [text, text, text, text] })).catch(() => undefined);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const times = new Map<string, number>();
    for (const text of ['#', ...texts]) {
      const filled = `${text.repeat(Math.floor(4_090 / text.length))}!`;
      const all: number[] = [];
      for (let round = 0; round < 5; round += 1) all.push(await measureCpu(filled));
      times.set(text, all.sort((a, b) => a - b)[2] ?? 0);
    }
    const plain = times.get('#') ?? 1;
    expect([...times].filter(([, time]) => time > 20 * plain + 20_000)).toEqual([]);
  });
});
