import { testAgent } from 'parley-a2a-conformance';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ExampleServer } from '../../interop/example-server.js';
import { watchStandstill } from '../../support/standstill.js';
import { agentKinds, type LiveAgent } from '../agents/agents.js';
import { parley, parleyJson } from '../parley.js';
import { KIT_SABOTAGES, PUSH_SABOTAGES, PUSHLESS_SABOTAGES } from './kit-sabotages.js';
import {
  EXTENDED_CARD_SABOTAGES,
  JSON_RPC_SABOTAGES,
  PLAIN_SABOTAGES,
  STREAMLESS_SABOTAGES,
  WIRE_SABOTAGES,
} from './plain-sabotages.js';
import type { Sabotages } from './sabotage.js';
import { type Sabotage, type TamperedCall, TamperingAgent } from './tampering-agent.js';

// Each test runs all scenarios, some of which are slow, and five tests run concurrently.
vi.setConfig({ testTimeout: 60_000 });

interface Check {
  readonly interface: string;
  readonly requirement: string;
  readonly status: string;
  readonly evidence: string;
}
interface Report {
  readonly summary: { readonly pass: number; readonly fail: number; readonly skipped: number };
  readonly checks: readonly Check[];
}

const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
const checksWith = ({ checks }: Report, status: string) => checks.filter((check) => check.status === status);
const failures = (report: Report) => checksWith(report, 'fail').map(({ requirement }) => requirement);

interface Case {
  readonly requirement: string;
  readonly how: string;
  readonly sabotage: Sabotage;
  readonly binding: TamperedCall['binding'];
}

/** The short form tries every sixth sabotage, because each one runs all checks. */
const STRIDE = process.env.TEST_LONG === undefined ? 6 : 1;

/** Returns each sabotage with a binding, which alternate. */
function casesOf(sabotages: Sabotages, bindings: readonly TamperedCall['binding'][] = BINDINGS): readonly Case[] {
  return Object.entries(sabotages)
    .flatMap(([requirement, ways]) => Object.entries(ways).map(([how, sabotage]) => ({ requirement, how, sabotage })))
    .filter((_, index) => index % STRIDE === 0)
    .map((one, index) => ({ ...one, binding: bindings[index % bindings.length] ?? 'JSONRPC' }));
}

const ALL_SABOTAGES: Sabotages = {
  ...KIT_SABOTAGES,
  ...PUSH_SABOTAGES,
  ...PUSHLESS_SABOTAGES,
  ...WIRE_SABOTAGES,
  ...JSON_RPC_SABOTAGES,
  ...EXTENDED_CARD_SABOTAGES,
  ...STREAMLESS_SABOTAGES,
  ...PLAIN_SABOTAGES,
};

/** The checks that an agent on the official SDK fails. */
const SDK_FAULTS = {
  JSONRPC: ['a message without parts is refused', 'another version of JSON-RPC is InvalidRequest'],
  'HTTP+JSON': ['a message without parts is refused'],
};

/** The tasks for subscriptions run for 0.7 s, so a machine that stands still for so long in ms spoils a run. */
const MOST_STALL_MS = 400;
const MOST_RUNS = 4;

/** Runs all checks, and runs them again if the machine has stood still meanwhile, and this process with it. */
async function runUndisturbed<T>(check: () => Promise<T>): Promise<T> {
  for (let runs = 1; ; runs += 1) {
    const stop = watchStandstill();
    const result = await check().finally(stop);
    if (stop() < MOST_STALL_MS || runs === MOST_RUNS) return result;
  }
}

const runKit = (url: string) =>
  runUndisturbed(async () => {
    const { stdout } = await parley(['conformance', '--tck', '-a', url, '-o', 'json']);
    return JSON.parse(stdout) as Report;
  });

let example: ExampleServer;
let demo: LiveAgent;
let javascript: LiveAgent;
beforeAll(async () => {
  // The tasks for subscriptions run for 0.7 s.
  example = await ExampleServer.start({ env: { TCK_STREAMING_TIMEOUT: '0.1', DATABASE_URL: 'memory:' } });
  const [ours, theirs] = agentKinds();
  demo = (await ours?.start()) as LiveAgent;
  javascript = (await theirs?.start()) as LiveAgent;
});
afterAll(async () => {
  await example[Symbol.asyncDispose]();
  await demo[Symbol.asyncDispose]();
  await javascript[Symbol.asyncDispose]();
});

/** Returns the requirements that a sabotaged agent fails. */
function faultsOf(url: string, { sabotage, binding }: Case, withKit = true): Promise<readonly string[]> {
  return runUndisturbed(async () => {
    await using agent = await TamperingAgent.start(url, { ...sabotage, binding });
    const card: unknown = await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json();
    const test = testAgent({ card, withKit, checkMs: 20_000 });
    let step = await test.next();
    while (step.done !== true) step = await test.next();
    return failures(step.value);
  });
}

const UNSPOKEN = 'the interface can be called';

describe('CONFORM_001: conformance --tck', () => {
  it.each(['tck', 'spec'])('our %s agent passes all scenarios of the kit, over every interface', async (mount) => {
    const report = await runKit(`${example.url}/${mount}`);
    expect(checksWith(report, 'fail')).toEqual([]);
    for (const binding of BINDINGS) {
      const own = checksWith(report, 'pass').filter((check) => check.interface === `${binding} 1.0`);
      expect(own.filter(({ requirement }) => /^(?:tck|test)-/.test(requirement))).toHaveLength(18);
      expect(own.length).toBeGreaterThan(50);
    }
  });

  it('an agent on the official JavaScript SDK passes all scenarios of the kit, and fails only the listed checks', async () => {
    const found = checksWith(await runKit(javascript.url), 'fail').map(
      (check) => `${check.interface}: ${check.requirement}`,
    );
    expect(found).toEqual(
      BINDINGS.flatMap((binding) => SDK_FAULTS[binding].map((fault) => `${binding} 1.0: ${fault}`)),
    );
  });

  it('every check has a sabotage below', async () => {
    const { checks } = await parleyJson<Report>(['conformance', '--tck', '-a', `${example.url}/echo`]);
    // The tester skips interfaces of unsupported bindings.
    const requirements = checks.map(({ requirement }) => requirement).filter((name) => name !== UNSPOKEN);
    expect(new Set(requirements)).toEqual(new Set(Object.keys(ALL_SABOTAGES)));
  });

  it('skips the scenarios with a reason if the agent does not implement the ids of the kit', async () => {
    const report = await parleyJson<Report>(['conformance', '--tck', '-a', `${example.url}/echo`]);
    expect(checksWith(report, 'fail')).toEqual([]);
    const scenarios = report.checks.filter(({ requirement }) => /^(?:tck|test)-/.test(requirement));
    expect(scenarios.map(({ status }) => status)).toEqual(scenarios.map(() => 'skipped'));
    expect(new Set(scenarios.map(({ evidence }) => evidence))).toEqual(
      new Set(['the agent does not play the scenarios of the kit']),
    );
  });
});

// Not concurrent: the lists of the SDK contain tasks of other runs.
describe('CONFORM_001: a faulty agent with push notifications fails the check of its fault', () => {
  it.each(casesOf(PUSH_SABOTAGES))('$requirement: it $how ($binding)', async (bad) => {
    const found = await faultsOf(javascript.url, bad);
    expect(found).toEqual([...SDK_FAULTS[bad.binding], bad.requirement]);
  });
});

describe.concurrent('CONFORM_001: a faulty agent fails the check of its fault, and no other', () => {
  it.each(casesOf(PUSHLESS_SABOTAGES))('$requirement: it $how ($binding)', async (bad) => {
    expect(await faultsOf(`${example.url}/spec`, bad)).toEqual([bad.requirement]);
  });

  it.each(casesOf(KIT_SABOTAGES))('$requirement: it $how ($binding)', async (bad) => {
    expect(await faultsOf(`${example.url}/tck`, bad)).toEqual([bad.requirement]);
  });

  it.each([...casesOf(WIRE_SABOTAGES), ...casesOf(JSON_RPC_SABOTAGES, ['JSONRPC'])])(
    '$requirement: it $how ($binding)',
    async (bad) => {
      expect(await faultsOf(demo.url, bad)).toEqual([bad.requirement]);
    },
  );

  it.each(casesOf(EXTENDED_CARD_SABOTAGES))('$requirement: it $how ($binding)', async (bad) => {
    expect(await faultsOf(`${example.url}/spec`, bad)).toEqual([bad.requirement]);
  });

  it.each(casesOf(STREAMLESS_SABOTAGES))('$requirement: it $how ($binding)', async (bad) => {
    expect(await faultsOf(`${example.url}/echo`, bad)).toEqual([bad.requirement]);
  });

  it.each(casesOf(PLAIN_SABOTAGES))('$requirement: it $how ($binding)', async (bad) => {
    expect(await faultsOf(demo.url, bad, false)).toEqual([bad.requirement]);
  });
});
