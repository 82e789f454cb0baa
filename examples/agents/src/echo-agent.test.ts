import { describe, expect, it } from 'vitest';
import { runTurn } from '../test/recorded-turn.js';
import { echoAgent } from './echo-agent.js';

describe('echo agent', () => {
  const { agent: executor } = echoAgent();

  it.each([
    [[{ text: 'hello' }], 'Echo: hello'],
    [[{ text: 'hello' }, { data: 1 }, { text: 'again' }], 'Echo: hello again'],
    [[{ data: { a: 1 } }], 'Echo: (empty message)'],
    [[{ text: '' }], 'Echo: (empty message)'],
  ])('answers %j with a message and no task', async (parts, answer) => {
    expect(await runTurn(executor, { parts })).toEqual([{ message: answer }]);
    expect(executor.replies).toBe('either');
  });
});
