import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, jsonSchema, type Tool, ToolError, ToolRegistry } from '../exports/tools.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers',
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  output: z.number(),
  run: ({ a, b }) => a + b,
});

describe('a tool', () => {
  it('has the JSON Schemas that its schemas give', () => {
    expect(add.inputSchema).toMatchObject({ type: 'object', properties: { a: { type: 'number' } }, required: ['a'] });
    expect(add.outputSchema).toMatchObject({ type: 'number' });
    const plain = defineTool({ name: 'plain', input: v.object({ a: v.string() }), run: ({ a }) => a });
    expect(plain.inputSchema).toBeUndefined();
  });

  it('takes a plain JSON Schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const weather = defineTool({
      name: 'weather',
      input: jsonSchema<{ city: string }>(schema),
      run: ({ city }) => `${city}: sun`,
    });
    expect(weather.inputSchema).toEqual(schema);
    const tools = new ToolRegistry([weather]);
    expect(await tools.execute('weather', { city: 'Oslo' })).toBe('Oslo: sun');
    await expect(tools.execute('weather', { city: 4 })).rejects.toThrow('city: must be string');
    const checked = jsonSchema(schema, { check: () => fail('no city') });
    const other = new ToolRegistry([defineTool({ name: 'other', input: checked, run: () => 1 })]);
    await expect(other.execute('other', {})).rejects.toThrow('no city');
  });

  it('names every wrong option', () => {
    const wrong = { name: 'a b', input: {}, output: 4, run: 'x', timeoutMs: 0 } as unknown as Parameters<
      typeof defineTool
    >[0];
    const names = ['name: ', 'input: ', 'output: ', 'run: ', 'timeoutMs: '];
    for (const name of names) expect(() => defineTool(wrong)).toThrow(name);
  });
});

describe('a registry', () => {
  it('runs a tool and tells each change of the call', async () => {
    const states: string[] = [];
    const tools = new ToolRegistry([add]);
    const sum: number = await tools.execute(add, { a: 2 }, { onEvent: ({ call }) => states.push(call.state) });
    expect(sum).toBe(3);
    expect(states).toEqual(['requested', 'running', 'succeeded']);
    expect(tools.list()).toEqual([add]);
    expect(() => tools.register(add)).toThrow('the tool add exists already');
  });

  it('refuses wrong arguments, wrong results and unknown tools', async () => {
    const wrong = defineTool({ name: 'wrong', input: z.object({}), output: z.string(), run: () => 4 as never });
    const tools = new ToolRegistry([add, wrong]);
    await expect(tools.execute('add', { a: 'x' })).rejects.toMatchObject({ reason: 'invalid_input' });
    await expect(tools.execute('wrong', {})).rejects.toMatchObject({ reason: 'invalid_output' });
    await expect(tools.execute('none', {})).rejects.toMatchObject({ reason: 'unknown_tool' });
  });

  it('tells the message of a ToolError, and no text of another error', async () => {
    const fails = defineTool({ name: 'fails', input: z.string(), run: (text) => fail(text) });
    const says = defineTool({ name: 'says', input: z.string(), run: (text) => Promise.reject(new ToolError(text)) });
    const tools = new ToolRegistry([fails, says]);
    await expect(tools.execute('fails', 'secret')).rejects.toThrow(/^fails failed\.$/);
    await expect(tools.execute('says', 'Sold out.')).rejects.toThrow(/^Sold out\.$/);
  });

  it('ends a run at its timeout, and at the signal of its caller', async () => {
    const signals: AbortSignal[] = [];
    const stuck = defineTool({
      name: 'stuck',
      input: z.null(),
      timeoutMs: 5,
      run: (_, { signal }) => {
        signals.push(signal);
        return new Promise<never>(() => {});
      },
    });
    const tools = new ToolRegistry([stuck]);
    await expect(tools.execute('stuck', null)).rejects.toMatchObject({ reason: 'timeout' });
    expect(signals[0]?.aborted).toBe(true);
    const aborted = AbortSignal.abort();
    await expect(tools.execute('stuck', null, { signal: aborted })).rejects.toMatchObject({ reason: 'aborted' });
    expect(signals).toHaveLength(1);
  });

  it('bounds arguments and results', async () => {
    const echo = defineTool({ name: 'echo', input: z.string(), run: (text) => text });
    const tools = new ToolRegistry([echo]);
    const limit = { reason: 'limit' };
    await expect(tools.execute('echo', 'xxxxx', { limits: { inputBytes: 6 } })).rejects.toMatchObject(limit);
    await expect(tools.execute('echo', 'xxxxx', { limits: { outputBytes: 6 } })).rejects.toMatchObject(limit);
    expect(await tools.execute('echo', 'xxxxx', { limits: { inputBytes: 7, outputBytes: 7 } })).toBe('xxxxx');
  });

  it('runs a tool that needs an approval only if the application approves', async () => {
    const pay = defineTool({
      name: 'pay',
      input: z.object({ amount: z.number() }),
      needsApproval: ({ amount }) => amount > 10,
      run: ({ amount }) => amount,
    });
    const tools = new ToolRegistry([pay]);
    expect(await tools.execute('pay', { amount: 5 })).toBe(5);
    await expect(tools.execute('pay', { amount: 50 })).rejects.toMatchObject({ reason: 'refused' });
    expect(await tools.execute('pay', { amount: 50 }, { approve: () => true })).toBe(50);
    await expect(tools.execute('pay', { amount: 50 }, { approve: () => false })).rejects.toThrow('not approved');
  });
});

function fail(message: string): never {
  throw new Error(message);
}

describe('a registry with a source', () => {
  it('follows the changes of the source', async () => {
    const source = { tools: [add] as readonly Tool[] };
    const defineNamed = (name: string, text = name) => defineTool({ name, input: z.object({}), run: () => text });
    const own = defineNamed('own');
    const tools = new ToolRegistry([source, own]);
    expect(tools.list().map(({ name }) => name)).toEqual(['own', 'add']);
    expect(await tools.execute('add', { a: 1 })).toBe(2);
    // The name `own` is taken.
    source.tools = [defineNamed('later'), defineNamed('own', 'other')];
    expect(tools.list().map(({ name }) => name)).toEqual(['own', 'later']);
    expect(await tools.execute('later', {})).toBe('later');
    expect(await tools.execute('own', {})).toBe('own');
    await expect(tools.execute('add', { a: 1 })).rejects.toMatchObject({ reason: 'unknown_tool' });
  });

  it('refuses a name that is taken', () => {
    expect(() => new ToolRegistry([add, { tools: [add] }])).toThrow('the tool add exists already');
    expect(() => new ToolRegistry([{ tools: [add] }, add])).toThrow('the tool add exists already');
  });
});
