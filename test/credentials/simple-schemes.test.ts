import { afterEach, expect, it } from 'vitest';
import { ApiKeys } from '../../packages/parley/src/exports/auth.js';
import { connect } from '../../packages/parley/src/exports/client.js';
import {
  apiKey,
  basic,
  bearerToken,
  combineCredentials,
  type SchemeCredentials,
} from '../../packages/parley/src/exports/credentials.js';
import type { AgentCard, SecurityScheme } from '../../packages/parley/src/exports/index.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { agent as agentOf, type Credentials } from '../../packages/parley/src/exports/server.js';
import { type ProtectedAgent, startProtectedAgent } from './protected-agent.js';

const SCHEMES = {
  headerKey: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  queryKey: { apiKeySecurityScheme: { location: 'query', name: 'api key' } },
  cookieKey: { apiKeySecurityScheme: { location: 'cookie', name: 'session' } },
  password: { httpAuthSecurityScheme: { scheme: 'Basic' } },
  token: { httpAuthSecurityScheme: { scheme: 'bearer' } },
} as const satisfies Record<string, SecurityScheme>;

let agent: ProtectedAgent | undefined;
afterEach(async () => {
  await agent?.close();
  agent = undefined;
});

const header = (name: string) => (credentials: Credentials) => credentials.header(name);
const KEY = 'k/1+&=%41?#';

it.each<[keyof typeof SCHEMES, SchemeCredentials, (credentials: Credentials) => string | undefined, string]>([
  ['headerKey', apiKey(KEY), header('x-key'), KEY],
  ['queryKey', apiKey(KEY), ({ query }) => new URLSearchParams(query).get('api key') ?? undefined, KEY],
  ['cookieKey', apiKey(KEY), header('cookie'), `session=${KEY}`],
  ['password', basic({ username: 'ada', password: 'é:ß' }), header('authorization'), `Basic ${btoa('ada:Ã©:Ã\u009f')}`],
  ['token', bearerToken('a.b-c'), header('authorization'), 'Bearer a.b-c'],
])('arrives as it was given, by each binding and in streams: %s', async (name, credentials, presentedBy, expected) => {
  agent = await startProtectedAgent({
    securitySchemes: { [name]: SCHEMES[name] },
    presentedBy,
    userOf: (presented) => (presented === expected ? 'ada' : undefined),
  });
  for (const binding of ['JSONRPC', 'HTTP+JSON']) {
    const client = await connect(agent.url, { credentials, binding });
    expect(await client.sendMessage('hello')).toMatchObject({ message: { parts: [{ text: 'called by ada' }] } });
    const events: object[] = [];
    for await (const event of client.sendStreamingMessage('hello')) events.push(event);
    expect(events).toMatchObject([{ message: { parts: [{ text: 'called by ada' }] } }]);
    await client.listTasks();
  }
  expect(agent.presented).toEqual(Array.from({ length: 6 }, () => expected));
});

it('satisfies all schemes that apply together, of the first alternative that it can', async () => {
  agent = await startProtectedAgent({
    securitySchemes: SCHEMES,
    presentedBy: (credentials) => `${credentials.header('authorization')} ${credentials.header('x-key')}`,
    userOf: (presented) => presented,
  });
  const { url } = agent;
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as AgentCard;
  const requirements = [['password'], ['token', 'headerKey'], ['token']];
  const client = await connect(
    {
      ...card,
      securityRequirements: requirements.map((names) => ({
        schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])),
      })),
    },
    { credentials: combineCredentials(apiKey('k1'), bearerToken('t1')) },
  );
  expect(await client.sendMessage('hello')).toMatchObject({ message: { parts: [{ text: 'called by Bearer t1 k1' }] } });
});

it('a key in a cookie: our client sends its own origin, and a server with ApiKeys takes it', async () => {
  const key = 'pl4nted-key-of-32-characters-000';
  const authenticator = new ApiKeys([{ key, subject: 'ada' }], { place: { location: 'cookie', name: 'session' } });
  const server = createA2AServer({ authenticator, agent: agentOf((_, { user }) => `called by ${user?.id}`) });
  const { url } = await server.listen(0);
  try {
    for (const binding of ['JSONRPC', 'HTTP+JSON']) {
      const client = await connect(url, { credentials: apiKey(key), binding });
      expect(JSON.stringify(await client.sendMessage('hello'))).toContain('called by apikey|ada');
    }
    const headers = { cookie: `session=${key}`, 'content-type': 'application/json', 'a2a-version': '1.0' };
    const body = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } });
    const post = (more: object) =>
      fetch(`${url}/a2a/rest/message:send`, { method: 'POST', headers: { ...headers, ...more }, body });
    for (const origin of ['http://evil.example', 'null']) expect((await post({ origin })).status).toBe(401);
    expect((await post({})).status).toBe(401);
  } finally {
    await server.close({ graceMs: 0 });
  }
});
