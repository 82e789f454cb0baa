import { connect, createA2AHost, createA2AServer, silentLogger as logger, textLogger } from 'parley-a2a';
import { ApiKeys } from 'parley-a2a/auth';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { printedBy, type World } from './mistake.js';
import { MISTAKES } from './table.js';

const agent = (prompt: string): string => `Echo: ${prompt}`;
const authenticator = new ApiKeys([{ key: 'right', subject: 'ada' }]);
const servers = [
  createA2AServer({ agent, logger }),
  createA2AServer({ agent, logger, authenticator }),
  createA2AHost({ agents: { '/a': { agent }, '/b': { agent } }, logger }),
] as const;
let world: World;

beforeAll(async () => {
  const [open, guarded, host] = await Promise.all(servers.map((server) => server.listen(0)));
  const url = open?.url ?? '';
  world = { url, guarded: guarded?.url ?? '', host: host?.url ?? '', client: await connect(url) };
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close({ graceMs: 0 })));
});

it.each(MISTAKES)('$name is told what to do, at the line of the caller', async ({ program, prints, hasLine }) => {
  const { text, place } = await printedBy(() => program(world));
  expect(text).toContain(prints);
  if (hasLine !== false) expect(place).toContain('/test/mistakes/');
});

it('the table has every mistake once', () => {
  expect(MISTAKES.length).toBeGreaterThanOrEqual(45);
  expect(new Set(MISTAKES.map(({ name }) => name)).size).toBe(MISTAKES.length);
});

it('an address without a scheme is called by http on this machine', async () => {
  const client = await connect(new URL(world.url).host.replace('127.0.0.1', 'localhost'));
  expect(client.card.name).toBe('A2A Agent');
});

it('a logger for people needs no options', () => {
  expect(Object.keys(textLogger())).toEqual(['debug', 'info', 'warn', 'error']);
});
