import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.js';
import { BINDINGS, JavaScriptPeer } from './javascript-peer.js';
import { watchfulFetch } from './leaks.js';
import { MODES, play } from './play.js';
import { SCENARIOS, type Scenario } from './scenarios.js';

/** The scenario that takes half a minute is played in the suite of Python; here in the long form. */
const isLong = process.env.TEST_LONG !== undefined;

const PLAYS = SCENARIOS.flatMap((scenario) =>
  agentsOf(scenario).flatMap((agent) =>
    BINDINGS.flatMap((binding) =>
      MODES.filter((mode) => (scenario.turns[0]?.stream === undefined ? mode === 'blocking' : true))
        // In 0.3 these clients cannot say over HTTP+JSON that they do not wait: they leave out what is false.
        .filter((mode) => mode !== 'immediate' || agent !== '/spec03' || binding === 'JSONRPC')
        .filter((mode) => scenario.once !== true || (mode === 'stream' && isLong))
        .map((mode) => ({ title: `${agent} ${scenario.name}, ${binding}, ${mode}`, agent, scenario, binding, mode })),
    ),
  ),
);

/** The agent of `/spec` speaks 0.3 at `/spec03`: the client has to notice. */
function agentsOf({ agents, once }: Scenario): readonly string[] {
  return agents.includes('/spec') && once !== true ? [...agents, '/spec03'] : agents;
}

describe('official JavaScript client: every scenario of the example agents', () => {
  const leaks: string[] = [];
  // All of them run at the same time, from the start; each test waits for its own.
  const outcomes = new Map<string, Promise<unknown>>();
  let server: ExampleServer;

  beforeAll(async () => {
    server = await ExampleServer.start();
    for (const { title, agent, scenario, binding, mode } of PLAYS) {
      const outcome = JavaScriptPeer.connect(`${server.url}${agent}`, binding, watchfulFetch(leaks))
        .then((peer) => play(peer, scenario, mode))
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      outcomes.set(title, outcome);
    }
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it.each(PLAYS)('$title', { timeout: 60_000 }, async ({ title }) => {
    const error = await outcomes.get(title);
    if (error !== undefined) throw error;
  });

  it('shows nothing of its inside in any error', () => {
    expect(leaks).toEqual([]);
  });
});
