import type { Check, Seen } from './check.js';
import { COMMON_CHECKS } from './checks/common-checks.js';
import { WIRE_CHECKS } from './checks/wire-checks.js';
import { brokenBy, type Finding, fail, pass } from './finding.js';
import { KIT_CHECKS } from './kit/kit-checks.js';
import { playsKit } from './kit/kit-message.js';
import { cardProblems, isOldCard } from './schema/card-problems.js';
import { type Capabilities, TestedAgent } from './tested-agent.js';
import { type AgentInterface, AgentWire, type Send } from './wire/agent-wire.js';
import { itemsOf, memberOf } from './wire/json.js';

export { type CardProblems, cardProblems } from './schema/card-problems.js';
export type { Finding, Send };

/** The agent under test, and the settings of the caller. */
interface ConformanceOptions {
  /** The JSON of the card, as the agent publishes it. */
  readonly card: unknown;
  /** Makes the requests, for example with credentials. Default: `fetch`. */
  readonly send?: Send;
  /** Further headers of every request, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Tenant of every request. Default: that of the interface. */
  readonly tenant?: string;
  /** Time limit of each check in ms. Default 30,000. */
  readonly checkMs?: number;
  /** Also runs the scenarios of the compatibility kit and the checks of the wire. Default false. */
  readonly withKit?: boolean;
}

/** The result of one check. */
export interface CheckResult extends Finding {
  /** Binding and version, such as `JSONRPC 1.0`; `card` for the card itself. */
  readonly interface: string;
  /** Section of the specification. */
  readonly spec: string;
  readonly requirement: string;
}

/** The results of all checks. */
interface ConformanceReport {
  readonly agent: { readonly name: string; readonly version: string };
  readonly summary: Readonly<Record<Finding['status'], number>>;
  readonly checks: readonly CheckResult[];
}

/** Progress of a test. `notPlayed` has the requirements of the kit that do not apply to the agent. */
export type ConformanceProgress =
  | { readonly kind: 'begun'; readonly interface: string; readonly requirement: string }
  | { readonly kind: 'checked'; readonly result: CheckResult }
  | { readonly kind: 'notPlayed'; readonly results: readonly CheckResult[] };

const CHECK_MS = 30_000;
/** The longest timer of JavaScript hosts, 24.8 days. */
const LONGEST_MS = 2_147_483_647;
const BINDINGS: readonly string[] = ['JSONRPC', 'HTTP+JSON'];

/**
 * Tests an agent from outside, over each of its interfaces. Yields the progress and returns the report. An error of a
 * check is a finding, so the generator throws none.
 */
export async function* testAgent(
  options: ConformanceOptions,
): AsyncGenerator<ConformanceProgress, ConformanceReport, undefined> {
  const { name, version, interfaces, capabilities } = cardFacts(options.card);
  const results: CheckResult[] = [];
  for await (const progress of allChecks(options, interfaces, capabilities)) {
    if (progress.kind === 'checked') results.push(progress.result);
    if (progress.kind === 'notPlayed') results.push(...progress.results);
    yield progress;
  }
  const count = (status: Finding['status']) => results.filter((result) => result.status === status).length;
  return {
    agent: { name, version },
    summary: { pass: count('pass'), fail: count('fail'), skipped: count('skipped') },
    checks: results,
  };
}

async function* allChecks(
  options: ConformanceOptions,
  interfaces: readonly AgentInterface[],
  capabilities: Capabilities,
): AsyncGenerator<ConformanceProgress, void, undefined> {
  const requirement = 'the card follows the schema';
  yield { kind: 'checked', result: { interface: 'card', spec: '§4.4.1', requirement, ...cardFinding(options.card) } };
  for (const agentInterface of interfaces) yield* interfaceChecks(options, agentInterface, capabilities);
}

async function* interfaceChecks(
  options: ConformanceOptions,
  agentInterface: AgentInterface,
  capabilities: Capabilities,
): AsyncGenerator<ConformanceProgress, void, undefined> {
  const { protocolBinding, protocolVersion } = agentInterface;
  const named = { interface: `${protocolBinding} ${protocolVersion}` };
  const isV1 = /^1\./.test(protocolVersion);
  if (!BINDINGS.includes(protocolBinding) || !(isV1 || protocolVersion === '0.3')) {
    const evidence = BINDINGS.includes(protocolBinding)
      ? 'only versions 1.x and 0.3 are tested'
      : 'this tool does not speak the binding';
    const requirement = 'the interface can be called';
    yield { kind: 'checked', result: { ...named, spec: '§5', requirement, status: 'skipped', evidence } };
    return;
  }
  const { send = fetch, headers = {}, tenant = agentInterface.tenant, checkMs = CHECK_MS, withKit = false } = options;
  const wire = new AgentWire({ agentInterface: { ...agentInterface, tenant }, send, headers });
  const agent = () =>
    new TestedAgent({ wire, capabilities, signal: AbortSignal.timeout(Math.min(checkMs, LONGEST_MS)) });
  const { checks, notPlayed } = await wantedChecks({ agent: agent(), isV1, withKit });
  const seen: Seen = { task: undefined };
  for (const { spec, requirement, run } of checks) {
    yield { kind: 'begun', ...named, requirement };
    const finding = await run(agent(), seen).catch(brokenBy);
    yield { kind: 'checked', result: { ...named, spec, requirement, ...finding } };
  }
  if (notPlayed.length === 0) return;
  const evidence = 'the agent does not play the scenarios of the kit';
  const results = notPlayed.map(({ spec, requirement }) => ({ ...named, spec, requirement, evidence }));
  yield { kind: 'notPlayed', results: results.map((result) => ({ ...result, status: 'skipped' })) };
}

interface InterfaceUnderTest {
  readonly agent: TestedAgent;
  readonly isV1: boolean;
  readonly withKit: boolean;
}

interface WantedChecks {
  readonly checks: readonly Check[];
  /** Checks of the kit that do not apply to the agent. */
  readonly notPlayed: readonly Check[];
}

async function wantedChecks({ agent, isV1, withKit }: InterfaceUnderTest): Promise<WantedChecks> {
  // The scenarios of the kit and the shapes of the wire checks are those of 1.x.
  if (!isV1) return { checks: COMMON_CHECKS.filter(({ sinceV1 }) => sinceV1 !== true), notPlayed: [] };
  if (!withKit) return { checks: COMMON_CHECKS, notPlayed: [] };
  const always = [...COMMON_CHECKS, ...WIRE_CHECKS];
  if (await playsKit(agent)) return { checks: [...always, ...KIT_CHECKS], notPlayed: [] };
  return { checks: always, notPlayed: KIT_CHECKS };
}

function cardFinding(card: unknown): Finding {
  const { wrong, unknown } = cardProblems(card);
  const [first, ...others] = wrong;
  if (first !== undefined) return fail(others.length === 0 ? first : `${first}, and ${others.length} more`);
  return pass(unknown.length === 0 ? 'no fault' : `unknown members: ${unknown.join(', ')}`);
}

/** The members of a card that the tester needs. */
interface CardFacts {
  readonly name: string;
  readonly version: string;
  readonly interfaces: readonly AgentInterface[];
  readonly capabilities: Capabilities;
}

/** Reads a card of 1.0 or 0.3 as it was published. Unreadable members are left out. */
function cardFacts(card: unknown): CardFacts {
  const isOld = isOldCard(card);
  const capabilities = memberOf(card, 'capabilities');
  return {
    name: String(memberOf(card, 'name') ?? ''),
    version: String(memberOf(card, 'version') ?? ''),
    interfaces: isOld ? oldInterfaces(card) : itemsOf(memberOf(card, 'supportedInterfaces')).flatMap(interfaceIn),
    capabilities: {
      streaming: memberOf(capabilities, 'streaming') === true,
      pushNotifications: memberOf(capabilities, 'pushNotifications') === true,
      extendedAgentCard:
        (isOld ? memberOf(card, 'supportsAuthenticatedExtendedCard') : memberOf(capabilities, 'extendedAgentCard')) ===
        true,
    },
  };
}

function interfaceIn(value: unknown): readonly AgentInterface[] {
  const [url, protocolBinding, version] = ['url', 'protocolBinding', 'protocolVersion'].map((name) =>
    memberOf(value, name),
  );
  if (typeof url !== 'string' || typeof protocolBinding !== 'string' || typeof version !== 'string') return [];
  const tenant = memberOf(value, 'tenant');
  const protocolVersion = majorMinor(version);
  return [{ url, protocolBinding, protocolVersion, ...(typeof tenant === 'string' && { tenant }) }];
}

/** The main interface of a card of 0.3 and the additional ones. Many cards list the main one twice. */
function oldInterfaces(card: unknown): readonly AgentInterface[] {
  const protocolVersion = majorMinor(String(memberOf(card, 'protocolVersion') ?? '0.2'));
  const main = { url: memberOf(card, 'url'), transport: memberOf(card, 'preferredTransport') ?? 'JSONRPC' };
  const found = new Map<string, AgentInterface>();
  for (const item of [main, ...itemsOf(memberOf(card, 'additionalInterfaces'))]) {
    const [url, protocolBinding] = [memberOf(item, 'url'), memberOf(item, 'transport')];
    if (typeof url === 'string' && typeof protocolBinding === 'string')
      found.set(`${protocolBinding} ${url}`, { url, protocolBinding, protocolVersion });
  }
  return [...found.values()];
}

/** `0.3.0` is `0.3`: patches do not change the wire (Spec §3.6.1). */
function majorMinor(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
