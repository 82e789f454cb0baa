import type { Sabotage, Said, TamperedCall } from './tampering-agent.js';

type Json = Readonly<Record<string, unknown>>;
type Change = (value: Json) => Json;
type Which = (call: TamperedCall, result?: Json) => boolean;

/** Faults of agents by violated requirement, with a description. */
export type Sabotages = Readonly<Record<string, Readonly<Record<string, Sabotage>>>>;

/** Replaces an expected answer. */
export const BROKEN: Said = {};

/** A change of one member, named by its path; undefined removes it. */
export function set(path: string, to: unknown): Change {
  const [name = '', ...rest] = path.split('.');
  return (value) => {
    const inner = rest.length === 0 ? to : set(rest.join('.'), to)((value[name] ?? {}) as Json);
    if (Array.isArray(value)) return value.with(Number(name), inner) as unknown as Json;
    const { [name]: _, ...others } = value;
    return inner === undefined ? others : { ...others, [name]: inner };
  };
}

/** A change of a list of the value. */
export function list(name: string, change: (items: readonly Json[]) => readonly unknown[]): Change {
  return (value) => ({ ...value, [name]: change((value[name] ?? []) as readonly Json[]) });
}

/** Changes the answers to some calls; errors stay. */
export function answers(which: Which, change: Change): Sabotage {
  return {
    answer: (call, said) =>
      said.result !== undefined && which(call, said.result) ? { ...said, result: change(said.result) } : said,
  };
}

/** Changes some requests before the agent sees them. */
export function requests(which: Which, change: Change): Sabotage {
  return { request: (call) => (which(call) ? change(call.params) : call.params) };
}

/** Breaks over some calls, instead of refusing them for a reason. */
export function breaksOver(which: Which, reason = ''): Sabotage {
  const spoiled = (said: Said) => (JSON.stringify(said.error ?? '').includes(reason) ? BROKEN : said);
  return { tampersWith: which, answer: (_, said) => spoiled(said), events: () => (said) => [spoiled(said)] };
}

/** Changes each event of some streams into any number of events. */
export function streams(which: Which, change: (event: Json) => readonly Json[]): Sabotage {
  return {
    tampersWith: which,
    events: () => (said) => (said.result === undefined ? [said] : change(said.result).map((result) => ({ result }))),
  };
}

/** Changes the events of some streams that have the first member of a path. */
export const events = (which: Which, path: string, to: unknown): Sabotage =>
  streams(which, (event) => [path.slice(0, path.indexOf('.')) in event ? set(path, to)(event) : event]);

/** Leaves out the events of some streams that are of a kind, or end the task. */
export const without = (which: Which, kind: 'task' | 'artifactUpdate' | 'end'): Sabotage =>
  streams(which, (event) => (kind in event || (kind === 'end' && has(event, 'COMPLETED')) ? [] : [event]));

/** True if a text occurs anywhere in a value. */
export const has = (value: unknown, text: string): boolean => JSON.stringify(value ?? '').includes(text);

/** Calls of an operation, with no other members than these where any are named. */
export function calls(operation: string, ...names: readonly string[]): Which {
  const wanted = [...names].sort().join();
  return (call) => call.operation === operation && (wanted === '' || Object.keys(call.params).sort().join() === wanted);
}

/** Calls where a member has a value. */
export const asksFor =
  (name: string, value: string): Which =>
  ({ params }) =>
    String(params[name]) === value;

/** True if the id of a message belongs to a scenario. */
export const isOf = ({ messageId }: TamperedCall, prefix: string): boolean =>
  new RegExp(`^${prefix}-[0-9a-f]{8}-`).test(messageId);

const namesTask = ({ params }: TamperedCall) => 'taskId' in ((params.message ?? {}) as Json);

/** Messages of a scenario that begin a task. */
export const begins =
  (prefix: string): Which =>
  (call) =>
    call.operation === 'SendMessage' && isOf(call, prefix) && !namesTask(call);

/** Messages to a task. */
export const continues: Which = (call) => call.operation === 'SendMessage' && namesTask(call);

/** Streams of a scenario. */
export const plays =
  (prefix: string): Which =>
  (call) =>
    call.operation === 'SendStreamingMessage' && isOf(call, prefix);
