import { expect, it } from 'vitest';
import { runTurn } from '../test/recorded-turn.js';
import { helloAgent } from './hello-agent.js';

it('greets with the quoted text, as an artifact and as the closing status', async () => {
  const greeting = 'Hello, World! You said: "good morning"';
  expect(await runTurn(helloAgent().agent, { text: 'good morning' })).toEqual([
    { status: 'WORKING', says: undefined },
    { artifact: 'hello_world_result', parts: [{ text: greeting }], append: false, lastChunk: false },
    { status: 'COMPLETED', says: greeting },
  ]);
});
