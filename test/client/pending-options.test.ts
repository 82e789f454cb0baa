import { connect } from 'parley-a2a/client';
import { createA2AServer } from 'parley-a2a/node';
import { ToolRegistry } from 'parley-a2a/tools';
import { mcpEndpointOf, mcpServerOf } from 'parley-a2a-mcp';
import { expect, it } from 'vitest';

/** The result of an async function without `await`. Compilers find it in TypeScript, and not in JavaScript. */
const returnPromise = () => Promise.resolve({}) as never;
const agent = (prompt: string) => prompt;

it.each([
  [
    'interceptors of a client',
    () => connect('http://localhost', { interceptors: [returnPromise()] }),
    /connect: interceptors\[0\]/,
  ],
  [
    'credentials of a client',
    () => connect('http://localhost', { credentials: returnPromise() }),
    /connect: credentials/,
  ],
  ['an agent to call', () => connect(returnPromise()), /connect: agent/],
  [
    'the storage of a server',
    async () => createA2AServer({ agent, storage: returnPromise() }),
    /createA2AServer: storage:/,
  ],
  [
    'the signing of a server',
    async () => createA2AServer({ agent, signing: returnPromise() }),
    /createA2AServer: signing:/,
  ],
  ['an agent to serve', async () => createA2AServer({ agent: returnPromise() }), /createA2AServer: agent:/],
  ['an agent for MCP', async () => mcpServerOf(returnPromise()), /mcpServerOf: agents/],
  ['agents for MCP', async () => mcpEndpointOf([returnPromise()]), /mcpEndpointOf: agents\[0\]/],
  ['tools', async () => new ToolRegistry([returnPromise()]), /ToolRegistry: a tool/],
] as const)('%s that are not awaited are refused at once, and named', async (_, use, name) => {
  const error = await use().then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  expect(error?.name).toBe('OptionsError');
  expect(error?.message).toMatch(name);
  expect(error?.message).toMatch(/is a promise: await it$/);
});
