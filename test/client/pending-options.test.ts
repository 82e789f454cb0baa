import { connect } from 'parley-a2a/client';
import { createA2AServer } from 'parley-a2a/node';
import { ToolRegistry } from 'parley-a2a/tools';
import { mcpEndpointOf, mcpServerOf } from 'parley-a2a-mcp';
import { expect, it } from 'vitest';

/** The result of an async function without `await`. Compilers find it in TypeScript, and not in JavaScript. */
const pending = () => Promise.resolve({}) as never;
const agent = (prompt: string) => prompt;

it.each([
  [
    'interceptors of a client',
    () => connect('http://localhost', { interceptors: [pending()] }),
    /connect: interceptors\[0\]/,
  ],
  ['credentials of a client', () => connect('http://localhost', { credentials: pending() }), /connect: credentials/],
  ['an agent to call', () => connect(pending()), /connect: agent/],
  ['the storage of a server', async () => createA2AServer({ agent, storage: pending() }), /createA2AServer: storage:/],
  ['the signing of a server', async () => createA2AServer({ agent, signing: pending() }), /createA2AServer: signing:/],
  ['an agent to serve', async () => createA2AServer({ agent: pending() }), /createA2AServer: agent:/],
  ['an agent for MCP', async () => mcpServerOf(pending()), /mcpServerOf: agents/],
  ['agents for MCP', async () => mcpEndpointOf([pending()]), /mcpEndpointOf: agents\[0\]/],
  ['tools', async () => new ToolRegistry([pending()]), /ToolRegistry: a tool/],
] as const)('%s that are not awaited are refused at once, and named', async (_, use, name) => {
  const error = await use().then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  expect(error?.name).toBe('OptionsError');
  expect(error?.message).toMatch(name);
  expect(error?.message).toMatch(/is a promise: await it$/);
});
