import type { ReceivedSpan } from './otlp-receiver.js';

/** The processes begin their clocks at slightly different times. */
const SKEW_MS = 50;
/** Operations that clients may repeat. The rules for all spans check them; expected edges contain those of agents. */
const READS = ['GetTask', 'SubscribeToTask', 'ListTasks'];

/** Facts that the spans of a course must agree with. */
export interface ExpectedCourse {
  /** Words that no span may have. */
  readonly secrets: readonly string[];
  /** The name of the service whose calls begin the course. */
  readonly client: string;
  /** All edges between spans, as `courseOf` tells them. */
  readonly edges: readonly string[];
}

/** Spans by id. A span that ended with its process is known by the span that stands for it. */
function byIds(spans: readonly ReceivedSpan[]): ReadonlyMap<string, ReceivedSpan> {
  const found = new Map(spans.map((span) => [span.spanId, span]));
  for (const span of spans) {
    const lost = span.attributes['parley.lost.span_id'];
    if (typeof lost === 'string' && !found.has(lost)) found.set(lost, span);
  }
  return found;
}

/** Returns all faults in the spans of a course. Empty if the spans describe it completely. */
export function courseFaults(spans: readonly ReceivedSpan[], expected: ExpectedCourse): readonly string[] {
  const known = byIds(spans);
  const faults = spans.flatMap((span) => spanFaults(span, { known, spans, expected }));
  const edges = courseOf(spans);
  const missing = expected.edges.filter((edge) => !edges.includes(edge)).map((edge) => `missing: ${edge}`);
  const more = edges.filter((edge) => !expected.edges.includes(edge)).map((edge) => `unexpected: ${edge}`);
  return [...faults, ...deliveryFaults(spans, known), ...missing, ...more];
}

interface Known {
  readonly known: ReadonlyMap<string, ReceivedSpan>;
  readonly spans: readonly ReceivedSpan[];
  readonly expected: ExpectedCourse;
}

function spanFaults(span: ReceivedSpan, { known, spans, expected }: Known): readonly string[] {
  const faults: string[] = [];
  const says = (fault: string) => void faults.push(`${labelOf(span)}: ${fault}`);
  const { parent, links, start, end, kind, service, text, attributes } = span;
  const isBeginning = kind === 'CLIENT' && service === expected.client;
  if (parent === undefined && links.length === 0 && !isBeginning) says('has no parent and no link');
  if (parent !== undefined && !known.has(parent)) says('its parent is missing');
  for (const link of links) if (!known.has(link.spanId)) says(`its link to ${link.kind} is missing`);
  if (end < start) says('ends before it starts');
  const above = parent === undefined ? undefined : known.get(parent);
  if (above !== undefined && above.traceId !== span.traceId) says('is in another trace than its parent');
  for (const earlier of [above, ...links.map(({ spanId }) => known.get(spanId))])
    if (earlier !== undefined && start < earlier.start - SKEW_MS) says(`starts before ${labelOf(earlier)}`);
  const hasAnswer = !span.isError || attributes['http.response.status_code'] !== undefined;
  if (kind === 'CLIENT' && hasAnswer && !spans.some((one) => one.parent === span.spanId)) says('nobody answered it');
  if (kind === 'SERVER' && above !== undefined && above.kind !== 'CLIENT') says('its parent is no call');
  if (kind === 'SERVER' && above !== undefined && !isAnswered(above, span)) says('its parent calls something else');
  for (const secret of expected.secrets) if (text.includes(secret)) says('has words that must not leave the agent');
  return faults;
}

function isAnswered(call: ReceivedSpan, answer: ReceivedSpan): boolean {
  const isPush = call.name === 'send push_notification';
  return isPush ? answer.name === 'webhook' && isSameEvent(call, answer) : call.name === answer.name;
}

/** The webhook tells the id of the notification. */
function isSameEvent(call: ReceivedSpan, answer: ReceivedSpan): boolean {
  return String(answer.attributes['test.notification']).endsWith(`/${call.attributes['parley.push.sequence']}`);
}

/** All events are delivered in order. Each attempt but the first is linked to the one before. */
function deliveryFaults(spans: readonly ReceivedSpan[], known: ReadonlyMap<string, ReceivedSpan>): readonly string[] {
  const faults: string[] = [];
  const sent = spans.filter(({ name }) => name === 'send push_notification').sort((a, b) => a.start - b.start);
  let before: ReceivedSpan | undefined;
  for (const { parent, name } of sent) if (parent !== undefined) faults.push(`${name} is a part of another span`);
  for (const span of sent) {
    const { 'parley.push.sequence': seq, 'parley.push.attempt': attempt } = span.attributes;
    const place = `${seq}#${attempt}`;
    const isAgain = before?.isError === true;
    const next = isAgain
      ? `${before?.attributes['parley.push.sequence']}#${Number(before?.attributes['parley.push.attempt']) + 1}`
      : `${Number(before?.attributes['parley.push.sequence'] ?? 0) + 1}#1`;
    if (place !== next) faults.push(`the delivery ${place} is not ${next}`);
    const linked = span.links.find(({ kind }) => kind === 'before')?.spanId;
    if (linked !== (isAgain ? before?.spanId : undefined)) faults.push(`the delivery ${place} has another one before`);
    const cause = known.get(span.links.find(({ kind }) => kind === 'cause')?.spanId ?? '');
    // The record of the new task comes from its call, if it is delivered before the first event of the turn.
    const isCause = cause?.name.startsWith('invoke_agent') || (seq === 1 && cause?.kind === 'SERVER');
    if (!isCause) faults.push(`the delivery ${place} comes from no turn`);
    if (cause !== undefined && cause.attributes['a2a.task.id'] !== span.attributes['a2a.task.id'])
      faults.push(`the delivery ${place} comes from another task`);
    before = span;
  }
  if (before?.isError === true) faults.push('the last delivery has failed');
  return faults;
}

/** The course as the edges between its spans: `child < parent`, and `span ~kind~ other` for links. */
export function courseOf(spans: readonly ReceivedSpan[]): readonly string[] {
  const known = byIds(spans);
  const edges = spans
    .filter(({ name }) => name !== 'webhook' && name !== 'send push_notification')
    .filter(({ name, kind, parent }) => !READS.includes(name) || (kind === 'CLIENT' && parent !== undefined))
    .flatMap((span) => [
      ...(span.parent === undefined ? [] : [`${labelOf(span)} < ${labelOf(known.get(span.parent))}`]),
      ...span.links.map(({ spanId, kind }) => `${labelOf(span)} ~${kind}~ ${labelOf(known.get(spanId))}`),
      ...(span.parent === undefined && span.links.length === 0 ? [`${labelOf(span)} begins`] : []),
    ]);
  return [...new Set(edges)].sort();
}

function labelOf(span: ReceivedSpan | undefined): string {
  if (span === undefined) return 'nothing';
  const { service, name, attributes, isError } = span;
  const fate = attributes['parley.lost.fate'] ?? (attributes['parley.lost.span_id'] === undefined ? '' : 'lost');
  const agent = span.kind === 'SERVER' ? attributes['gen_ai.agent.name'] : undefined;
  const facts = [agent ?? '', attributes['parley.turn.attempt'] ?? '', fate, stateOf(span), isError ? 'error' : ''];
  return [service, span.kind.toLowerCase(), name, ...facts].filter((fact) => fact !== '').join(' ');
}

/** The state that a turn has ended in. */
function stateOf({ name, attributes }: ReceivedSpan): string {
  const state = attributes['a2a.task.state'];
  return name.startsWith('invoke_agent') && typeof state === 'string' ? state.replace('TASK_STATE_', '') : '';
}
