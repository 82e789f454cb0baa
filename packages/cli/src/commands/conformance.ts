import type { AgentCard, AgentInterface } from 'parley-a2a';
import { agentOptions } from '../agent/agent-options.js';
import { agentTarget } from '../agent/agent-target.js';
import type { Invocation } from '../command-line/invocation.js';
import { CHECKS, type CheckedAgent, type Finding } from '../conformance/checks.js';
import { failureOf } from '../failure/failure.js';

const LIMIT_MS = 60_000;

interface Row extends Finding {
  readonly interface: string;
  readonly spec: string;
  readonly requirement: string;
}

/** Checks from outside that an agent does what its card says, over every interface that this tool speaks. */
export async function run(invocation: Invocation): Promise<number> {
  const { settings, output } = invocation;
  const target = agentTarget(invocation);
  const { connect: options } = await agentOptions(invocation, target);
  const { connect, fetchAgentCard } = await import('parley-a2a/client');
  let document: unknown;
  const onDocument = (found: unknown) => {
    document = found;
  };
  const card = await fetchAgentCard(target, { ...options, onDocument });
  const rows: Row[] = [];
  const add = (row: Row) => {
    rows.push(row);
    if (!output.json) output.field(row.status.toUpperCase(), `${row.interface}: ${row.requirement} (${row.evidence})`);
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
      const evidence = 'this tool does not speak it';
      add({ ...named, spec: '§5', requirement: 'the interface can be called', status: 'skipped', evidence });
      continue;
    }
    const client = await connect(target, { ...options, binding: one.protocolBinding, version: one.protocolVersion });
    const signal = AbortSignal.timeout(settings.duration('timeout') ?? LIMIT_MS);
    const agent: CheckedAgent = { card, client, signal, task: undefined };
    for (const { spec, requirement, run: check } of CHECKS)
      add({ ...named, spec, requirement, ...(await check(agent).catch(broken)) });
  }
  const failed = rows.filter(({ status }) => status === 'fail').length;
  if (output.json) output.document(reportOf(card, rows));
  else output.field('Result', `${rows.filter(({ status }) => status === 'pass').length} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function isSpoken({ protocolBinding, protocolVersion }: AgentInterface): boolean {
  return ['JSONRPC', 'HTTP+JSON'].includes(protocolBinding) && /^1\./.test(protocolVersion);
}

async function cardFinding(document: unknown): Promise<Finding> {
  const { violationsOf } = await import('parley-a2a/schema');
  const [first, ...others] = violationsOf('AgentCard', document);
  if (first === undefined) return { status: 'pass', evidence: 'nothing is wrong with it' };
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return { status: 'fail', evidence: `${first.field} ${first.description}${more}` };
}

/** A check that could not even be made. */
function broken(error: unknown): Finding {
  const { code, message } = failureOf(error);
  return { status: 'fail', evidence: `${code}: ${message}` };
}

function reportOf(card: AgentCard, checks: readonly Row[]): object {
  const count = (wanted: Finding['status']) => checks.filter(({ status }) => status === wanted).length;
  return {
    agent: { name: card.name, version: card.version },
    summary: { pass: count('pass'), fail: count('fail'), skipped: count('skipped') },
    checks,
  };
}
