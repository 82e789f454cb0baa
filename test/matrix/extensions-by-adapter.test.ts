import { type Client, connect, createA2AServer } from 'parley-a2a';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { librariesBeside, manifestOf } from '../packages/packages.js';
import { ADAPTERS, type Adapter } from './extensions-by-adapter/adapters.js';
import { CALLEE, EXTENSION_OF, type Extension, extensions } from './extensions-by-adapter/extensions.js';

let calleeUrl = '';
const callee = createA2AServer({ agent: CALLEE });
beforeAll(async () => {
  calleeUrl = (await callee.listen(0)).url;
});
afterAll(() => callee.close({ graceMs: 0 }));
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Peers that are no SDKs of models. */
const NO_SDKS = ['parley-a2a', '@opentelemetry/api'];
/** The libraries with an SDK of models as a peer. */
const MODEL_SDKS = librariesBeside().filter((name) =>
  Object.keys(manifestOf(name).peerDependencies ?? {}).some((peer) => !NO_SDKS.includes(peer)),
);

const rows = extensions(() => calleeUrl);

describe.each(Object.keys(rows) as Extension[])('%s', (extension) => {
  const row = rows[extension];

  it.each(Object.keys(ADAPTERS) as Adapter[])('with an agent on %s', async (adapter) => {
    const { agent, decision } = ADAPTERS[adapter];
    let ran = 0;
    const run: typeof row.work.run = (context) => {
      ran += 1;
      return row.work.run(context);
    };
    const logger = new CapturingLogger();
    const options = await row.options?.();
    const server = createA2AServer({ ...options, agent: agent({ ...row.work, run }), logger });
    closers.push(() => server.close({ graceMs: 0 }));
    const { url } = await server.listen(0);
    const client: Client = await (row.connect ?? connect)(url);
    closers.push(() => client.close());
    const errors = () => logger.lines.filter(({ level }) => level === 'error');
    await row.play({
      client,
      decision,
      runs: () => ran,
      send: async (message) => {
        const answer = await client.ask(typeof message === 'string' ? message : { message });
        if (answer.task === undefined) throw new Error('no task');
        expect(errors()).toEqual([]);
        return answer.task;
      },
    });
    expect(errors()).toEqual([]);
  });
});

it('each adapter of the library has a row', () => {
  const names = MODEL_SDKS.map((name) => name.replaceAll('-', ' '));
  const known = Object.keys(ADAPTERS).map((adapter) => adapter.toLowerCase());
  expect([...names, 'plain handler'].sort()).toEqual(known.sort());
});

it('each extension that brings a member of the context has a row', () => {
  const named = Object.values(EXTENSION_OF).flatMap((extension) => extension ?? []);
  expect(named.filter((extension) => !(extension in rows))).toEqual([]);
});
