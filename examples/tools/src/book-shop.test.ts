import { connect, type SendMessageResponse, textOf } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import { answerApprovals, toolApprovals, toolCalls } from 'parley-a2a/tools';
import { expect, it, onTestFinished } from 'vitest';
import { bookShop } from './book-shop.js';

function taskOf(answer: SendMessageResponse) {
  if (answer.task !== undefined) return answer.task;
  throw new Error('not a task');
}

it('sells a cheap book at once, and an expensive one after an approval', async () => {
  const server = createA2AServer({ agent: bookShop, name: 'Books' });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const client = await connect((await server.listen(0)).url);
  expect(textOf(taskOf(await client.ask('Emma')))).toBe('Emma for 8 euros, order 1.2');
  const asked = taskOf(await client.ask('Ulysses'));
  expect(toolApprovals(asked)).toMatchObject([{ tool: 'order', input: { title: 'Ulysses', euros: 40 } }]);
  const done = taskOf(await client.ask({ message: answerApprovals(asked, 'approve') }));
  expect(textOf(done)).toBe('Ulysses for 40 euros, order 1.2');
  expect(toolCalls(done).map(({ tool, state }) => `${tool} ${state}`)).toEqual(['price succeeded', 'order succeeded']);
  const none = taskOf(await client.ask('Iliad'));
  expect([none.status.state, textOf(none)]).toEqual(['TASK_STATE_FAILED', 'There is no book Iliad.']);
});
