import { Annotation, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  type CallToolResult,
  type ElicitRequestFormParams,
  ElicitRequestSchema,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import { type AgentExecutor, connect, createA2AServer } from 'parley-a2a';
import { defineTool, jsonSchema, type ToolQuestion, ToolRegistry, toolAgent } from 'parley-a2a/tools';
import { langGraphAgent } from 'parley-a2a-langgraph';
import { mcpServerOf } from 'parley-a2a-mcp';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

const any = jsonSchema<unknown>({});
const accept = (content: NonNullable<ElicitResult['content']>): ElicitResult => ({ action: 'accept', content });

/** The skill of an agent as a tool, for a user who answers in this order. Forms that the user saw are in `seen`. */
async function askQuestions(agent: AgentExecutor, answers: readonly ElicitResult[]) {
  const skills = [{ id: 'go', name: 'Go', description: 'Goes', tags: [] }];
  const server = createA2AServer({ agent, skills });
  const mcp = mcpServerOf(await connect(server));
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  const seen: ElicitRequestFormParams[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    seen.push(params as ElicitRequestFormParams);
    return answers[seen.length - 1] ?? { action: 'cancel' };
  });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([mcp.connect(one), client.connect(other)]);
  onTestFinished(async () => {
    await client.close();
    await server.close({ graceMs: 0 });
  });
  const result = (await client.callTool({ name: 'go', arguments: { message: 'Go' } })) as CallToolResult;
  const { state, text } = result.structuredContent as { readonly state: string; readonly text: string };
  return { seen, state: state.slice('TASK_STATE_'.length), text };
}

/** An agent whose graph asks once and says the value of the answer. */
function graphAgent(responseSchema?: z.ZodType): AgentExecutor {
  const State = Annotation.Root({ said: Annotation<unknown> });
  const graph = new StateGraph(State)
    .addNode('ask', () => ({ said: interrupt('How many?', responseSchema && { responseSchema }) }))
    .addEdge(START, 'ask')
    .compile({ checkpointer: new MemorySaver() });
  return langGraphAgent({
    graph,
    input: () => ({}),
    output: (state) => JSON.stringify((state as { readonly said: unknown }).said),
  });
}

/** An agent whose tool asks these questions, one in each call, and says the answers. */
function askingAgent(...questions: readonly ToolQuestion[]): AgentExecutor {
  const ask = defineTool({
    name: 'ask',
    input: any,
    run: (at, context) => context.ask?.(questions[Number(at)] ?? { message: '' }),
  });
  return toolAgent(new ToolRegistry([ask]), async (run, { events }) => {
    const answers = await Promise.all(questions.map((_, at) => run.call('ask', at)));
    await events.complete(JSON.stringify(answers));
  });
}

function payingAgent(...items: readonly string[]): AgentExecutor {
  const pay = defineTool({ name: 'pay', input: any, needsApproval: true, run: (item) => `paid ${item}` });
  return toolAgent(new ToolRegistry([pay]), async (run, { events }) => {
    const paid = await Promise.allSettled(items.map((item) => run.call('pay', item)));
    // A call that waits ends the body.
    for (const one of paid) if (one.status === 'rejected' && one.reason.name !== 'ToolError') throw one.reason;
    await events.complete(paid.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.reason)).join());
  });
}

describe('a question of a graph over MCP', () => {
  it.each<[z.ZodType | undefined, object, ElicitResult['content'], unknown]>([
    [z.int().max(9), { answer: { type: 'integer', maximum: 9 } }, { answer: 3 }, 3],
    [z.enum(['red', 'blue']), { answer: { type: 'string', enum: ['red', 'blue'] } }, { answer: 'red' }, 'red'],
    [z.boolean(), { answer: { type: 'boolean' } }, { answer: false }, false],
    [
      z.object({ city: z.string().describe('Town'), nights: z.number() }),
      { city: { type: 'string', description: 'Town' }, nights: { type: 'number' } },
      { city: 'Oslo', nights: 2 },
      { city: 'Oslo', nights: 2 },
    ],
    [z.object({ tags: z.array(z.string()) }), { tags: { type: 'string' } }, { tags: 'a, b' }, { tags: ['a', 'b'] }],
    [
      z.object({ at: z.object({ x: z.number() }) }),
      { at: { type: 'string', description: 'JSON.' } },
      { at: '{"x":1}' },
      { at: { x: 1 } },
    ],
    [undefined, { answer: { type: 'string' } }, { answer: 'three' }, 'three'],
  ])('is a form with its schema, asked once: %#', async (schema, properties, content, value) => {
    const { seen, state, text } = await askQuestions(graphAgent(schema), [accept(content ?? {})]);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ requestedSchema: { type: 'object', properties } });
    expect(seen[0]?.requestedSchema.required).toEqual(Object.keys(properties));
    expect(seen[0]?.message).toContain('How many?');
    expect([state, JSON.parse(text)]).toEqual(['COMPLETED', value]);
  });

  it('that the user declines stays open', async () => {
    const { seen, state } = await askQuestions(graphAgent(z.number()), [{ action: 'decline' }]);
    expect([seen.length, state]).toEqual([1, 'INPUT_REQUIRED']);
  });
});

describe('a question of a tool over MCP', () => {
  const schema = { type: 'object', properties: { nights: { type: 'integer', minimum: 1 } }, required: ['nights'] };

  it.each<[string, ToolQuestion, object, ElicitResult, object | undefined]>([
    [
      'its form',
      { message: 'Nights?', schema },
      { nights: { type: 'integer', minimum: 1 } },
      accept({ nights: 2 }),
      { action: 'accept', content: { nights: 2 } },
    ],
    ['a decline', { message: 'Nights?', schema }, {}, { action: 'decline' }, { action: 'decline' }],
    [
      'a yes',
      { message: 'Sure?' },
      { answer: { type: 'boolean' } },
      accept({ answer: true }),
      { action: 'accept', content: {} },
    ],
    ['a no', { message: 'Sure?' }, { answer: { type: 'boolean' } }, accept({ answer: false }), { action: 'decline' }],
    ['no answer', { message: 'Sure?' }, {}, { action: 'cancel' }, undefined],
  ])('has %s', async (_, question, properties, result, answer) => {
    const { seen, state, text } = await askQuestions(askingAgent(question), [result]);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ requestedSchema: { properties } });
    if (answer === undefined) expect(state).toBe('INPUT_REQUIRED');
    else expect([state, JSON.parse(text)]).toEqual(['COMPLETED', [answer]]);
  });

  it('is one of several forms, whose answers are one message', async () => {
    const questions = [{ message: 'Nights?', schema }, { message: 'Sure?' }];
    const { seen, text } = await askQuestions(askingAgent(...questions), [
      accept({ nights: 2 }),
      accept({ answer: true }),
    ]);
    expect(seen.map(({ message }) => message)).toEqual(['ask asks:\n\nNights?', 'ask asks:\n\nSure?']);
    expect(JSON.parse(text)).toEqual([
      { action: 'accept', content: { nights: 2 } },
      { action: 'accept', content: {} },
    ]);
  });
});

describe('calls that wait for approvals over MCP', () => {
  it.each<[string, readonly string[], ElicitResult, string, string]>([
    ['approved', ['a'], accept({ decision: 'approve' }), 'COMPLETED', 'paid a'],
    ['refused', ['a'], accept({ decision: 'refuse' }), 'COMPLETED', 'refused'],
    ['declined', ['a', 'b'], { action: 'decline' }, 'COMPLETED', 'refused,refused'],
    ['decided one by one', ['a', 'b'], accept({ 1.1: 'approve', 1.2: 'refuse' }), 'COMPLETED', 'paid a,refused'],
  ])('are %s in one form', async (_, items, result, state, text) => {
    const world = await askQuestions(payingAgent(...items), [result]);
    const choices = Object.values(world.seen[0]?.requestedSchema.properties ?? {});
    expect(choices).toEqual(
      items.map((item) => ({ type: 'string', title: `pay "${item}"`, enum: ['approve', 'refuse'] })),
    );
    expect([world.seen.length, world.state, world.text]).toEqual([1, state, text]);
  });
});
