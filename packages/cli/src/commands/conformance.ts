import type { AgentCard, AgentInterface } from 'parley-a2a';
import type { ConnectOptions } from 'parley-a2a/client';
import { agentOptions } from '../agent/agent-options.js';
import { type AgentTarget, agentTarget } from '../agent/agent-target.js';
import { cardChecker } from '../agent/card-problems.js';
import { readCard } from '../agent/read-card.js';
import type { Invocation } from '../command-line/invocation.js';
import { CHECKS, type Check, type CheckedAgent } from '../conformance/checks.js';
import type { Finding } from '../conformance/finding.js';
import { WireTap } from '../conformance/wire-tap.js';
import { failureOf } from '../failure/failure.js';
import { timeLimit } from '../settings/time-limit.js';

const LIMIT_MS = 30_000;
const BINDINGS: readonly string[] = ['JSONRPC', 'HTTP+JSON'];
const NO_KIT = 'the agent does not do what the message ids of the kit say';

interface Row extends Finding {
  readonly interface: string;
  readonly spec: string;
  readonly requirement: string;
}

interface Report {
  readonly agent: { readonly name: string; readonly version: string };
  readonly summary: Readonly<Record<Finding['status'], number>>;
  readonly checks: readonly Row[];
}

/**
 * Checks from outside that an agent does what its card says, over every interface that this tool speaks; with `--tck`
 * also that it plays the scenarios of the compatibility kit.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { settings, output } = invocation;
  const target = agentTarget(invocation);
  const { connect: options } = await agentOptions(invocation, target);
  const { fetchAgentCard } = await import('parley-a2a/client');
  let document: unknown;
  const onDocument = (found: unknown) => {
    document = found;
  };
  const card = await readCard(fetchAgentCard(target, { ...options, onDocument }));
  const rows: Row[] = [];
  const tell = (row: Pick<Row, 'status' | 'interface' | 'requirement' | 'evidence'>) => {
    output.endProgress();
    if (!output.json) output.field(row.status.toUpperCase(), `${row.interface}: ${row.requirement} (${row.evidence})`);
  };
  const add = (row: Row) => {
    rows.push(row);
    tell(row);
  };
  add({
    interface: 'card',
    spec: '§4.4.1',
    requirement: 'the card follows the schema',
    ...(await cardFinding(document)),
  });
  for (const one of card.supportedInterfaces) {
    const named = { interface: `${one.protocolBinding} ${one.protocolVersion}` };
    if (!isSpoken(one)) {
      const evidence = BINDINGS.includes(one.protocolBinding)
        ? 'only versions 1.x and 0.3 are checked'
        : 'this tool does not speak it';
      add({ ...named, spec: '§5', requirement: 'the interface can be called', status: 'skipped', evidence });
      continue;
    }
    const limit = () => timeLimit(settings.duration('timeout') ?? LIMIT_MS);
    const agent = await checkedAgent({ target, card, options, one, limit });
    const { checks, unplayed } = await checksFor(agent, one, settings.isOn('tck'));
    for (const { spec, requirement, run: check } of checks) {
      output.progress(`${named.interface}: ${requirement}`);
      agent.signal = limit();
      add({ ...named, spec, requirement, ...(await check(agent).catch(broken)) });
    }
    const skipped = { ...named, status: 'skipped', evidence: NO_KIT } as const;
    for (const { spec, requirement } of unplayed) rows.push({ ...skipped, spec, requirement });
    if (unplayed.length > 0) tell({ ...skipped, requirement: `${unplayed.length} requirements of the kit` });
  }
  const report = reportOf(card, rows);
  const { pass, fail, skipped } = report.summary;
  if (output.json) output.document(report);
  else output.field('Result', `${pass} passed, ${fail} failed, ${skipped} skipped`);
  return fail === 0 ? 0 : 1;
}

interface AgentParts {
  readonly target: AgentTarget;
  readonly card: AgentCard;
  readonly options: ConnectOptions;
  readonly one: AgentInterface;
  readonly limit: () => AbortSignal;
}

/** One interface of the agent. What breaks is to be seen: nothing is tried twice. */
async function checkedAgent({ target, card, options, one, limit }: AgentParts): Promise<CheckedAgent> {
  const { connect } = await import('parley-a2a/client');
  const wire = new WireTap(options.fetch);
  const once = { retry: { attempts: 0 }, resume: { attempts: 0 }, fetch: wire.fetch };
  const wanted = { ...options, ...once, binding: one.protocolBinding, version: one.protocolVersion };
  return {
    card,
    wire,
    client: await connect(target, wanted),
    pretending: (capabilities) => connect({ ...card, capabilities }, wanted),
    signal: limit(),
    task: undefined,
  };
}

/** What is checked of an interface. */
interface WantedChecks {
  readonly checks: readonly Check[];
  /** The scenarios of the kit, where the agent does not know them. */
  readonly unplayed: readonly Check[];
}

async function checksFor(agent: CheckedAgent, one: AgentInterface, withKit: boolean): Promise<WantedChecks> {
  // The kit's scenarios and the forms on the wire are those of 1.x.
  if (!/^1\./.test(one.protocolVersion))
    return { checks: CHECKS.filter(({ sinceV1 }) => sinceV1 !== true), unplayed: [] };
  if (!withKit) return { checks: CHECKS, unplayed: [] };
  const { speaksKit, KIT_CHECKS, WIRE_CHECKS } = await import('../conformance/kit.js');
  const always = [...CHECKS, ...WIRE_CHECKS];
  if (await speaksKit(agent)) return { checks: [...always, ...KIT_CHECKS], unplayed: [] };
  return { checks: always, unplayed: KIT_CHECKS };
}

function isSpoken({ protocolBinding, protocolVersion }: AgentInterface): boolean {
  return BINDINGS.includes(protocolBinding) && /^(?:1\.|0\.3)/.test(protocolVersion);
}

async function cardFinding(document: unknown): Promise<Finding> {
  const { wrong, unknown } = (await cardChecker())(document);
  const [first, ...others] = wrong;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  if (first !== undefined) return { status: 'fail', evidence: `${first}${more}` };
  return {
    status: 'pass',
    evidence: unknown.length === 0 ? 'nothing is wrong with it' : `unknown members: ${unknown.join(', ')}`,
  };
}

/** A check that could not even be made. */
function broken(error: unknown): Finding {
  const { code, message } = failureOf(error);
  return { status: 'fail', evidence: `${code}: ${message}` };
}

function reportOf(card: AgentCard, checks: readonly Row[]): Report {
  const count = (wanted: Finding['status']) => checks.filter(({ status }) => status === wanted).length;
  return {
    agent: { name: card.name, version: card.version },
    summary: { pass: count('pass'), fail: count('fail'), skipped: count('skipped') },
    checks,
  };
}
