import { connect, createA2AServer, type Part, type Task } from 'parley-a2a';
import type { OutgoingMessage } from 'parley-a2a/client';
import {
  defineTool,
  jsonSchema,
  type Tool,
  ToolRegistry,
  type ToolRun,
  type ToolTurn,
  toolAgent,
  toolApprovals,
  toolCalls,
} from 'parley-a2a/tools';
import { describe, expect, it, onTestFinished } from 'vitest';

const any = jsonSchema<unknown>({});
const statusText = ({ status }: Task) =>
  (status.message?.parts ?? []).map((part) => (part.text !== undefined ? part.text : '')).join('');
const states = (task: Task) => toolCalls(task).map(({ state, failure }) => `${state} ${failure?.reason ?? ''}`.trim());

/** A real server with an agent of tools. */
async function serveTools(tools: readonly Tool[], body: (run: ToolRun, turn: ToolTurn) => Promise<void>) {
  const server = createA2AServer({ agent: toolAgent(new ToolRegistry(tools), body) });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const client = await connect((await server.listen(0)).url);
  const send = async (message: string | { readonly message: OutgoingMessage }): Promise<Task> => {
    const answer = await client.ask(message);
    if (answer.task === undefined) throw new Error('no task');
    return answer.task;
  };
  const reply = ({ id: taskId }: Task, ...parts: readonly Part[]) => send({ message: { taskId, parts } });
  return { client, send, reply };
}

/** An agent whose only tool needs an approval. */
async function shop() {
  const paid: unknown[] = [];
  const texts: string[] = [];
  const pay = defineTool({ name: 'pay', input: any, needsApproval: true, run: (item) => void paid.push(item) });
  const world = await serveTools([pay], async (run, { events }) => {
    texts.push(run.text);
    await run.call('pay', run.text);
    await events.complete('Paid');
  });
  return { ...world, paid, texts };
}

describe('an answer to a question for approval', () => {
  it.each<[string, readonly Part[]]>([
    ['an unknown decision', [{ data: { toolApproval: { callId: '1.1', decision: 'maybe' } } }]],
    ['no decision', [{ data: { toolApproval: { callId: '1.1' } } }]],
    ['no id', [{ data: { toolApproval: { decision: 'approve' } } }]],
    ['a text in its place', [{ data: { toolApproval: 'approve' } }]],
    ['a text beside it', [{ data: { toolApproval: { callId: '1.1', decision: 'yes' } } }, { text: 'yes' }]],
  ])('that is malformed answers nothing, and is asked again: %s', async (_, parts) => {
    const { send, reply, paid, texts } = await shop();
    const again = await reply(await send('Dune'), ...parts);
    expect(statusText(again)).toContain('This answer decides no call that waits. A decision is approve or refuse.');
    expect([states(again), paid, texts]).toEqual([['requested'], [], ['Dune']]);
    expect(toolApprovals(again)).toMatchObject([{ callId: '1.1' }]);
    expect(statusText(await reply(again, { text: 'yes' }))).toBe('Paid');
    expect(paid).toEqual(['Dune']);
  });

  it.each([
    ['no', ''],
    ['No, thanks.', ''],
    ['no thank you', ''],
    ['no, it is too dear', ': no, it is too dear'],
  ])('that refuses is not the text of the run: %s', async (text, reason) => {
    const { send, reply, paid, texts } = await shop();
    const refused = await reply(await send('Dune'), { text });
    expect(refused.status.state).toBe('TASK_STATE_FAILED');
    expect(statusText(refused)).toBe(`The call was refused${reason === '' ? '.' : reason}`);
    expect([states(refused), paid, texts]).toEqual([['refused refused'], [], ['Dune', 'Dune']]);
  });

  it('is a new prompt if it says neither', async () => {
    const { send, reply, texts } = await shop();
    const other = await reply(await send('Dune'), { text: 'Nocturnes' });
    expect([states(other), texts]).toEqual([
      ['refused superseded', 'requested'],
      ['Dune', 'Nocturnes'],
    ]);
  });
});
