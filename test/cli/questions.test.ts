import { Annotation, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { createA2AServer, type Task } from 'parley-a2a';
import { defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';
import { langGraphAgent } from 'parley-a2a-langgraph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parley, parleyJson } from './parley.js';
import { PseudoTerminal, terminalCases } from './pseudo-terminal.js';

const order = z.object({ seats: z.number().int(), row: z.enum(['front', 'back']) });
const QUESTION = 'Which seats?';

const book = defineTool({
  name: 'book',
  input: jsonSchema({ type: 'object' }),
  run: async (_input, { ask }) => {
    const { $schema: _, ...schema } = z.toJSONSchema(order);
    return ask?.({ message: QUESTION, schema: schema as never });
  },
});
const tools = toolAgent(new ToolRegistry([book]), async (run, { events }) => {
  await events.complete(JSON.stringify(await run.call(book, {})));
});

const graph = new StateGraph(Annotation.Root({ text: Annotation<string>, seats: Annotation<string> }))
  .addNode('look up', () => ({}))
  .addNode('book', () => ({ seats: JSON.stringify(interrupt(QUESTION, { responseSchema: order })) }))
  .addEdge(START, 'look up')
  .addEdge('look up', 'book')
  .compile({ checkpointer: new MemorySaver() });
const graphAgent = langGraphAgent({
  graph,
  input: ({ text }) => ({ text }),
  output: (state) => (state as { readonly seats: string }).seats,
});

const servers = [createA2AServer({ agent: tools }), createA2AServer({ agent: graphAgent })];
const urls: Record<string, string> = {};
beforeAll(async () => {
  for (const [at, name] of ['tool', 'graph'].entries()) urls[name] = (await servers[at]?.listen(0))?.url ?? '';
});
afterAll(() => Promise.all(servers.map((server) => server.close({ graceMs: 0 }))));

/** Matches the refusal, a blank line, and the question again. */
const refusalOf = (field: string) =>
  new RegExp(`^The answer [^\\n]*\\b${field}\\b[^\\n]*\\n\\n(?:[^\\n]*\\n\\n)?${QUESTION}`, 'm');

describe.each(['tool', 'graph'])('an invalid answer to the question of a %s', (kind) => {
  it('is refused with the name of its field, apart from the question', async () => {
    const url = urls[kind] ?? '';
    const { id } = (await parleyJson<{ task: Task }>(['send', 'x', '-a', url])).task;
    const reply = (text: string) => parley(['send', text, '--task-id', id, '-a', url]);
    expect((await reply('two')).stdout).toMatch(refusalOf('seats'));
    expect((await reply('{"seats":2}')).stdout).toMatch(refusalOf('row'));
    const { stdout } = await parley(['send', '{"seats":2.5,"row":"front"}', '--stream', '--task-id', id, '-a', url]);
    expect(stdout).toMatch(refusalOf('seats'));
    expect((await reply('{"seats":2,"row":"front"}')).stdout).toContain('"seats":2');
  });

  it.for(terminalCases())('is refused in a conversation on separate lines', async () => {
    await using terminal = new PseudoTerminal(['chat', '-a', urls[kind] ?? ''], { NO_COLOR: '1' });
    await terminal.shows(/> /);
    terminal.type('x\n');
    await terminal.shows(/to decline\.|fields\./);
    await terminal.shows(/> /);
    terminal.type('two\n');
    expect((await terminal.shows(/The answer .*Which seats/s)).replaceAll('\r', '')).toMatch(
      new RegExp(refusalOf('seats').source.replace(QUESTION, 'Which seats'), 'm'),
    );
  });
});

const Said = Annotation.Root({
  text: Annotation<string>,
  said: Annotation<unknown[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

describe('answers of which one is invalid', () => {
  it('are accepted except for the invalid one', async () => {
    const askFor = (name: string) => ({
      said: [interrupt(`${name}?`, { responseSchema: z.object({ [name]: z.number() }) })],
    });
    const both = new StateGraph(Said)
      .addNode('one', () => askFor('rows'))
      .addNode('other', () => askFor('seats'))
      .addEdge(START, 'one')
      .addEdge(START, 'other')
      .compile({ checkpointer: new MemorySaver() });
    const server = createA2AServer({ agent: langGraphAgent({ graph: both, input: ({ text }) => ({ text }) }) });
    const { url } = await server.listen(0);
    servers.push(server);
    const { id, status } = (await parleyJson<{ task: Task }>(['send', 'x', '-a', url])).task;
    const ids = (status.message?.parts ?? []).flatMap((part) =>
      part.data !== undefined ? [(part.data as { readonly interruptId: string }).interruptId] : [],
    );
    const answers = JSON.stringify(
      Object.fromEntries(ids.map((one, at) => [one, at === 0 ? { rows: 1 } : { seats: 'x' }])),
    );
    const { stdout } = await parley(['send', '--data', answers, '--task-id', id, '-a', url]);
    expect(stdout).toMatch(/^The answer [^\n]*\bseats\b[^\n]*\n\nseats\?/m);
    expect(stdout).not.toContain('rows?');
  });
});

describe('the steps of a graph', () => {
  it('are printed by name', async () => {
    const { stdout } = await parley(['send', 'x', '--stream', '-a', urls.graph ?? '']);
    expect(stdout).toMatch(/^State: WORKING\nStep: look up\nStep: book\nState: INPUT_REQUIRED\n/m);
  });
});
