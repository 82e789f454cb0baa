import type { AgentCard } from 'parley-a2a';
import type { CheckResult, ConformanceProgress, Send } from 'parley-a2a-conformance';
import { type AgentOptions, agentOptions } from '../agent/agent-options.js';
import { type AgentTarget, agentTarget } from '../agent/agent-target.js';
import { readCard } from '../agent/read-card.js';
import type { Invocation } from '../command-line/invocation.js';
import type { Output } from '../output/output.js';

/**
 * Tests an agent from outside, over every interface that this tool supports. With `--tck` it also runs the scenarios of
 * the compatibility kit.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { settings, output } = invocation;
  const target = agentTarget(invocation);
  const options = await agentOptions(invocation, target);
  const { fetchAgentCard } = await import('parley-a2a/client');
  let document: unknown;
  const onDocument = (found: unknown) => {
    document = found;
  };
  const card = await readCard(fetchAgentCard(target, { ...options.connect, onDocument }));
  const { testAgent } = await import('parley-a2a-conformance');
  const [checkMs, tenant] = [settings.duration('timeout'), settings.text('tenant')];
  const test = testAgent({
    // Members without a signature must not choose the addresses.
    card: options.signatures === undefined ? document : card,
    send: await sender(options, { target, card }),
    headers: headersOf(options),
    withKit: settings.isOn('tck'),
    ...(checkMs !== undefined && { checkMs }),
    ...(tenant !== undefined && { tenant }),
  });
  let step = await test.next();
  for (; step.done !== true; step = await test.next()) show(output, step.value);
  const report = step.value;
  const { pass, fail, skipped } = report.summary;
  output.endProgress();
  if (output.json) output.document(report);
  else output.field('Result', `${pass} passed, ${fail} failed, ${skipped} skipped`);
  return fail === 0 ? 0 : 1;
}

/** Makes a `fetch` that adds the caller's credentials. */
async function sender(
  { connect, credentials }: AgentOptions,
  { target, card }: { readonly target: AgentTarget; readonly card: AgentCard },
): Promise<Send> {
  const { credentialedFetch } = await import('parley-a2a/credentials');
  const trustedOrigins = typeof target === 'string' ? [target] : card.supportedInterfaces.map(({ url }) => url);
  const { fetch } = connect;
  return credentialedFetch(credentials, { card, trustedOrigins, ...(fetch !== undefined && { fetch }) });
}

function headersOf({ connect: { headers = {}, extensions = [] } }: AgentOptions): Record<string, string> {
  return { ...headers, ...(extensions.length > 0 && { 'a2a-extensions': extensions.join(', ') }) };
}

function show(output: Output, progress: ConformanceProgress): void {
  switch (progress.kind) {
    case 'begun':
      output.progress(`${progress.interface}: ${progress.requirement}`);
      return;
    case 'checked':
      showResult(output, progress.result);
      return;
    case 'notPlayed': {
      const [first] = progress.results;
      if (first === undefined) return;
      showResult(output, { ...first, requirement: `${progress.results.length} requirements of the kit` });
    }
  }
}

function showResult(output: Output, result: CheckResult): void {
  output.endProgress();
  if (output.json) return;
  output.field(result.status.toUpperCase(), `${result.interface}: ${result.requirement} (${result.evidence})`);
}
