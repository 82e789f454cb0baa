import { type AgentExecutor, silentLogger } from 'parley-a2a';
import { type A2AServerOptions, createA2AServer } from 'parley-a2a/node';

/** Publishes three events: working, an artifact with the text, completed. A text with `wait` ends in a question. */
export const TELLER: AgentExecutor = {
  async execute({ text }, events) {
    await events.working('Begun');
    await events.artifact(text, { artifactId: 'told' });
    if (text.includes('wait')) await events.inputRequired('More?');
    else await events.complete('Done');
  },
};

/** A server whose webhooks may be on this machine, and JSON-RPC calls to it. */
export async function pushServer(options: Partial<A2AServerOptions> = {}) {
  const server = createA2AServer({
    agent: TELLER,
    logger: silentLogger,
    push: { allow: ['127.0.0.0/8'] },
    ...options,
  } as A2AServerOptions);
  const { url } = await server.listen(0);
  const call = async (
    method: string,
    params: object,
    version = '1.0',
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const response = await fetch(`${url}/a2a/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': version, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json()) as { readonly result?: never; readonly error?: { readonly code: number } };
  };
  return {
    server,
    url,
    call,
    [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }),
  };
}

/** A message of a user in 1.0. */
export function sendParams(text: string, more: object = {}) {
  return { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more } };
}
