import type { Sabotage, Said, TamperedCall } from './tampering-agent.js';

type Json = Readonly<Record<string, unknown>>;
type Change = (value: Json) => Json;
type Which = (call: TamperedCall, result?: Json) => boolean;

/** Faults of agents by violated requirement, with a description. */
export type Sabotages = Readonly<Record<string, Readonly<Record<string, Sabotage>>>>;

/** Replaces an expected answer. */
export const BROKEN: Said = {};

/** Returns a change of the member at a path; undefined removes it. */
export function set(path: string, to: unknown): Change {
  const [name = '', ...rest] = path.split('.');
  return (value) => {
    const inner = rest.length === 0 ? to : set(rest.join('.'), to)((value[name] ?? {}) as Json);
    if (Array.isArray(value)) return value.with(Number(name), inner) as unknown as Json;
    const { [name]: _, ...others } = value;
    return inner === undefined ? others : { ...others, [name]: inner };
  };
}

/** Returns a change of a member that is a list. */
export function list(name: string, change: (items: readonly Json[]) => readonly unknown[]): Change {
  return (value) => ({ ...value, [name]: change((value[name] ?? []) as readonly Json[]) });
}

/** Changes the results of some calls, but not errors. */
export function answers(which: Which, change: Change): Sabotage {
  return {
    answer: (call, said) =>
      said.result !== undefined && which(call, said.result) ? { ...said, result: change(said.result) } : said,
  };
}

/** Changes some requests before the agent gets them. */
export function requests(which: Which, change: Change): Sabotage {
  return { request: (call) => (which(call) ? change(call.params) : call.params) };
}

/** Answers some calls with an internal error instead of a refusal with this reason. */
export function breaksOver(which: Which, reason = ''): Sabotage {
  const spoil = (said: Said) => (JSON.stringify(said.error ?? '').includes(reason) ? BROKEN : said);
  return { tampersWith: which, answer: (_, said) => spoil(said), events: () => (said) => [spoil(said)] };
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

/** Omits events from some streams: those of a kind, or those that end the task. */
export const without = (which: Which, kind: 'task' | 'artifactUpdate' | 'end'): Sabotage =>
  streams(which, (event) => (kind in event || (kind === 'end' && has(event, 'COMPLETED')) ? [] : [event]));

/** True if a text occurs anywhere in a value. */
export const has = (value: unknown, text: string): boolean => JSON.stringify(value ?? '').includes(text);

/** Selects calls of an operation; with `names`, only those with exactly these members. */
export function calls(operation: string, ...names: readonly string[]): Which {
  const wanted = [...names].sort().join();
  return (call) => call.operation === operation && (wanted === '' || Object.keys(call.params).sort().join() === wanted);
}

/** Selects calls in which a member has a value. */
export const asksFor =
  (name: string, value: string): Which =>
  ({ params }) =>
    String(params[name]) === value;

/** True if the id of the message has the prefix of a scenario. */
export const isOf = ({ messageId }: TamperedCall, prefix: string): boolean =>
  new RegExp(`^${prefix}-[0-9a-f]{8}-`).test(messageId);

const namesTask = ({ params }: TamperedCall) => 'taskId' in ((params.message ?? {}) as Json);

/** Selects messages of a scenario that create a task. */
export const begins =
  (prefix: string): Which =>
  (call) =>
    call.operation === 'SendMessage' && isOf(call, prefix) && !namesTask(call);

/** Selects messages to a task. */
export const continues: Which = (call) => call.operation === 'SendMessage' && namesTask(call);

/** Selects streams of a scenario. */
export const plays =
  (prefix: string): Which =>
  (call) =>
    call.operation === 'SendStreamingMessage' && isOf(call, prefix);
