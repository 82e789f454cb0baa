import type { TurnAbortReason } from '../turn-aborted-error.js';
import type {
  AgentEventInput,
  LiveState,
  TurnAnswer,
  TurnEffect,
  TurnInput,
  TurnState,
  TurnStep,
  TurnTimer,
} from './turn-state.js';

/** The outcome of an input that is impossible in a state. */
export const IMPOSSIBLE = 'impossible';

type Cell = TurnStep | typeof IMPOSSIBLE;
type Row = Readonly<Record<TurnInput, Cell>>;
type Effects = readonly TurnEffect[];
/** Returns a live state, or the state in which its task is still being stored. */
type At = (live: LiveState) => TurnState;

/** The texts that the engine writes into a task. The causes go to the log. */
const FAILURE_TEXTS = {
  failed: 'The agent failed to process the message.',
  silent: 'The agent ended without a result.',
  invalid: 'The agent gave an invalid response.',
  late: 'The agent did not finish within its time limit.',
  large: 'The agent produced more than a task can hold.',
  fast: 'The agent published faster than its events can be stored.',
  interrupted: 'The agent stopped while it worked on this task and cannot resume it.',
  exhausted: 'The agent stopped each time it worked on this task.',
  denied: 'The authorization was refused.',
  expired: 'The authorization was not given in time.',
} as const;

/** The text of a task that has waited too long for its caller. */
export const EXPIRED = 'The task waited too long and has expired.';

const CALL_AGENT: TurnEffect = { do: 'call agent' };
const RELEASE_AGENT: TurnEffect = { do: 'release agent' };
const LOG_LATE_ERROR: TurnEffect = { do: 'log late error' };
const STOP_TIMER: TurnEffect = { do: 'stop timer' };
const STORE: TurnEffect = { do: 'store task' };
const APPEND: TurnEffect = { do: 'append event' };
const APPEND_FAILURE: TurnEffect = { do: 'append failure' };
const FINISH: TurnEffect = { do: 'finish log' };
const FLUSH: TurnEffect = { do: 'flush log' };
const ABANDON: TurnEffect = { do: 'abandon log' };
const HAND_OVER: TurnEffect = { do: 'release turn', how: 'handover' };
const HAND_BACK: TurnEffect = { do: 'release turn', how: 'unbegun' };
const RELEASE_FAILED: TurnEffect = { do: 'log', level: 'error', text: 'a turn could not be handed over' };
const END: TurnEffect = { do: 'end' };
const WORKING: TurnEffect = { do: 'append status', state: 'TASK_STATE_WORKING' };
const CANCELED: TurnEffect = { do: 'append status', state: 'TASK_STATE_CANCELED' };
const failed = (text: string): TurnEffect => ({ do: 'append status', state: 'TASK_STATE_FAILED', text });
const start = (timer: TurnTimer): TurnEffect => ({ do: 'start timer', timer });
const abort = (why: TurnAbortReason): TurnEffect => ({ do: 'abort agent', why });
const answer = (content: TurnAnswer): TurnEffect => ({ do: 'answer', with: content });
const warn = (text: string): TurnEffect => ({ do: 'log', level: 'warn', text });
const error = (text: string): TurnEffect => ({ do: 'log', level: 'error', text });

/** The effects of an event after the end of the turn. */
export const REFUSAL: Effects = [{ do: 'refuse event' }];
const NOTHING: Effects = [];

function to(state: TurnState, ...effects: Effects): TurnStep {
  return { state, effects };
}

/** Returns the same cell for several inputs. */
function all<Input extends TurnInput>(inputs: readonly Input[], cell: Cell): Record<Input, Cell> {
  return Object.fromEntries(inputs.map((input) => [input, cell])) as Record<Input, Cell>;
}

const EVENTS = [
  'chunk',
  'announced',
  'working',
  'login',
  'question',
  'rejected',
  'terminal',
  'message',
  'invalid',
  'too fast',
  'too large',
] as const satisfies readonly AgentEventInput[];
const STARTS = ['begin', 'run', 'leave', 'interrupted', 'exhausted', 'keep', 'expired'] as const;
const THROWS = ['threw', 'threw A2AError', 'threw denied', 'threw expired'] as const;
const AFTER_CALL = ['suspended', 'first step over'] as const;
const TIMERS = ['deadline', 'expiry', 'grace'] as const;
const STORING = ['stored', 'store overdue', 'store failed'] as const;
const RELEASING = ['flushed', 'released', 'release failed'] as const;

/** Returns cells for inputs that are impossible in a state. */
function never<Input extends TurnInput>(...inputs: readonly Input[]): Record<Input, Cell> {
  return all(inputs, IMPOSSIBLE);
}

/** Inputs of the agent, which are impossible before its call. */
const NO_AGENT = never(...EVENTS, ...AFTER_CALL, 'returned', ...THROWS, 'threw elsewhere', 'over budget');

/** The turn refuses events of its agent, which is released or about to be. */
function deaf(state: TurnState) {
  return {
    ...all(EVENTS, { state, effects: REFUSAL }),
    ...all([...AFTER_CALL, 'returned', 'threw elsewhere', 'over budget'], to(state)),
    ...all(THROWS, to(state, LOG_LATE_ERROR)),
  };
}

/** The agent in each live state: running, aborted or released. */
const AGENT: Readonly<Record<LiveState, 'runs' | 'aborted' | 'released'>> = {
  open: 'runs',
  running: 'runs',
  asking: 'runs',
  canceling: 'aborted',
  asked: 'runs',
  ending: 'runs',
  leaving: 'released',
  'handing over': 'released',
};

/** Ends a live turn in this process, in any state of its agent. */
function quit(live: LiveState, state: TurnState, why: TurnAbortReason, ...effects: Effects): TurnStep {
  if (AGENT[live] === 'released') return to(state, ...effects);
  const stop = AGENT[live] === 'runs' ? [abort(why)] : NOTHING;
  return to(state, STOP_TIMER, ...effects, ...stop, RELEASE_AGENT);
}

/** Another process may write the turn. */
function losing(live: LiveState) {
  const lost = quit(live, 'lost', 'taken over', ABANDON, END);
  return { 'give up': lost, 'not held': lost, fenced: lost };
}

/** Invalid events, or events beyond the limits of the task. The task fails. */
function failSpoiled(at: At, before: Effects, isAborted: boolean) {
  const end = (why: 'invalid' | 'too fast' | 'too large', note: string, text: string) => {
    const stop = isAborted ? NOTHING : [abort(why)];
    return to(at('leaving'), error(note), ...before, failed(text), STOP_TIMER, FINISH, ...stop, RELEASE_AGENT);
  };
  return {
    invalid: end('invalid', 'agent published an invalid event', FAILURE_TEXTS.invalid),
    'too fast': end('too fast', FAILURE_TEXTS.fast, FAILURE_TEXTS.fast),
    'too large': end('too large', FAILURE_TEXTS.large, FAILURE_TEXTS.large),
  };
}

/**
 * The agent runs. The effects `before` come before the first record of the turn. If that record is WORKING or REJECTED,
 * the effects `opening` replace them, because it needs no WORKING before it.
 */
function agentWorks(at: At, before: Effects, opening: Effects) {
  const end = (notes: Effects, text: string, ...stop: Effects) =>
    to(at('leaving'), ...notes, ...before, failed(text), STOP_TIMER, FINISH, ...stop, RELEASE_AGENT);
  return {
    chunk: to(at('running'), ...before, APPEND),
    announced: to(at('running'), ...before, APPEND),
    working: to(at('running'), ...opening, APPEND),
    login: to(at('asking'), ...before, APPEND, start('expiry')),
    question: to(at('asked'), ...before, APPEND, start('grace')),
    rejected: to(at('ending'), ...opening, APPEND, start('grace')),
    terminal: to(at('ending'), ...before, APPEND, start('grace')),
    message: to(at('ending'), ...before, APPEND, start('grace')),
    ...failSpoiled(at, before, false),
    returned: end(
      [warn('agent ended without a final or interrupted state: call events.complete() or another one last')],
      FAILURE_TEXTS.silent,
    ),
    ...all(['threw', 'threw A2AError'], end([error('agent failed')], FAILURE_TEXTS.failed)),
    // The caller gets the reason, which is no secret.
    'threw denied': end(NOTHING, FAILURE_TEXTS.denied),
    'threw expired': end(NOTHING, FAILURE_TEXTS.expired),
    'threw elsewhere': end(NOTHING, FAILURE_TEXTS.failed, abort('failed')),
    'over budget': to(
      at('leaving'),
      ...before,
      APPEND_FAILURE,
      STOP_TIMER,
      FINISH,
      abort('over budget'),
      RELEASE_AGENT,
    ),
    deadline: end([warn('agent passed its deadline')], FAILURE_TEXTS.late, abort('deadline')),
  };
}

/** Requests of the process to a turn whose agent runs. */
function stopping(live: LiveState, before: Effects) {
  const callCancel: TurnEffect = { do: 'call cancel of agent' };
  return {
    cancel: to('canceling', ...before, start('grace'), abort('canceled'), callCancel),
    'hand over': quit(live, 'handing over', 'closing', FLUSH),
    replaced: to(live),
    ...losing(live),
  };
}

/** The agent has published its last event. Later events are refused, and its grace period starts. */
function agentIsDone(live: LiveState) {
  return {
    ...deaf(live),
    returned: to('leaving', STOP_TIMER, FINISH, RELEASE_AGENT),
    ...all(THROWS, to('leaving', STOP_TIMER, FINISH, LOG_LATE_ERROR, RELEASE_AGENT)),
    grace: to('leaving', FINISH, abort('over'), RELEASE_AGENT),
    'hand over': quit(live, 'leaving', 'closing', FINISH),
    replaced: to(live),
    ...losing(live),
  };
}

const STORED: At = (live) => live;
const storing = (live: LiveState): TurnState => `storing ${live}`;
const CANCELED_AT_LAST = to('leaving', CANCELED, STOP_TIMER, FINISH, RELEASE_AGENT);

const LIVE: Readonly<Record<LiveState, Row>> = {
  open: {
    ...never(...STARTS, 'expiry', 'grace', ...STORING, ...RELEASING, 'left'),
    ...agentWorks(STORED, [WORKING], NOTHING),
    // Agents for other servers publish the task first. The engine has already done so.
    announced: to('open'),
    suspended: to('open', { do: 'await first step' }),
    'first step over': to('running', WORKING),
    ...stopping('open', [WORKING]),
    ...never('fenced'),
  },
  running: {
    ...never(...STARTS, 'expiry', 'grace', ...STORING, ...RELEASING, 'left'),
    ...agentWorks(STORED, NOTHING, NOTHING),
    ...all(AFTER_CALL, to('running')),
    ...stopping('running', NOTHING),
  },
  asking: {
    ...never(...STARTS, 'grace', ...STORING, ...RELEASING, 'left'),
    ...agentWorks(STORED, NOTHING, NOTHING),
    ...all(AFTER_CALL, to('asking')),
    chunk: to('asking', APPEND),
    // The time while the task waited for its caller does not count.
    announced: to('running', APPEND, start('deadline')),
    working: to('running', APPEND, start('deadline')),
    returned: to('leaving', STOP_TIMER, FINISH, RELEASE_AGENT),
    ...never('deadline'),
    expiry: to('leaving', failed(EXPIRED), STOP_TIMER, FINISH, abort('expired'), RELEASE_AGENT),
    ...stopping('asking', NOTHING),
    replaced: to('leaving', STOP_TIMER, FINISH, abort('replaced'), RELEASE_AGENT),
  },
  canceling: {
    ...never(...STARTS, 'deadline', 'expiry', ...STORING, ...RELEASING, 'left'),
    ...all(['chunk', 'announced', 'working', 'login'], to('canceling', APPEND)),
    question: to('leaving', APPEND, CANCELED, STOP_TIMER, FINISH, RELEASE_AGENT),
    ...all(['rejected', 'terminal', 'message'], to('leaving', APPEND, STOP_TIMER, FINISH, RELEASE_AGENT)),
    ...failSpoiled(STORED, NOTHING, true),
    ...all(AFTER_CALL, to('canceling')),
    ...all(['returned', ...THROWS, 'threw elsewhere', 'grace'], CANCELED_AT_LAST),
    ...all(['cancel', 'replaced', 'over budget'], to('canceling')),
    'hand over': quit('canceling', 'handing over', 'closing', FLUSH),
    ...losing('canceling'),
  },
  asked: {
    ...never(...STARTS, 'deadline', 'expiry', ...STORING, ...RELEASING, 'left'),
    ...agentIsDone('asked'),
    cancel: to('ending', CANCELED, start('grace')),
  },
  ending: {
    ...never(...STARTS, 'deadline', 'expiry', ...STORING, ...RELEASING),
    ...agentIsDone('ending'),
    cancel: to('ending'),
    // The commit of the final state is in progress. Its answer shows whether the turn was taken over.
    'not held': to('ending'),
    left: to('lingering', END),
  },
  leaving: {
    ...never(...TIMERS, ...STORING, ...RELEASING),
    ...deaf('leaving'),
    ...losing('leaving'),
    ...all([...STARTS, 'cancel', 'replaced', 'hand over', 'not held'], to('leaving')),
    left: to('ended', END),
  },
  'handing over': {
    ...never(...TIMERS, ...STORING, 'left'),
    ...deaf('handing over'),
    ...losing('handing over'),
    // The storage keeps a cancel request for the next process.
    ...all([...STARTS, 'cancel', 'replaced', 'hand over'], to('handing over')),
    flushed: to('handing over', ABANDON, HAND_OVER),
    released: to('handed over', END),
    'release failed': to('lost', RELEASE_FAILED, END),
  },
};

/** A live turn whose task is not stored yet. Its records wait for the claim; everything else is the same. */
function storingRow(live: LiveState): Row {
  const row = Object.entries(LIVE[live]).map(([input, cell]) => [
    input,
    cell === IMPOSSIBLE ? cell : { state: `storing ${cell.state}`, effects: cell.effects },
  ]);
  const here = storing(live);
  return {
    ...(Object.fromEntries(row) as Row),
    ...never(...STARTS, ...RELEASING, 'first step over', 'not held', 'fenced', 'left'),
    suspended: to(here),
    stored: to(live, { do: 'open log' }, answer('claim')),
    'store overdue': to(here, { do: 'tell overdue' }),
    'store failed': quit(live, 'ended', 'not stored', ABANDON, answer('error'), END),
    // The storage has not answered within the lease or the time of the shutdown.
    'give up': quit(live, 'lost', 'taken over', ABANDON, answer('stalled'), END),
  };
}

/** A turn that this process holds without having called its agent. */
function withoutAgent() {
  return {
    ...never(...TIMERS, ...STORING, ...RELEASING, 'left', 'fenced'),
    ...NO_AGENT,
    cancel: to('leaving', CANCELED, FINISH),
    'hand over': to('handing back', ABANDON, HAND_BACK),
    // The attempt does not count. If another process already has the turn, the storage ignores the release.
    'give up': to('lost', ABANDON, HAND_BACK, END),
    'not held': to('lost', ABANDON, END),
  };
}

/** The turn is over in this process. */
function over(state: TurnState) {
  return {
    ...never('deadline', 'expiry', 'left', 'fenced'),
    ...deaf(state),
    ...all([...STARTS, 'cancel', 'replaced', 'hand over', 'give up', 'not held', 'flushed'], to(state)),
  };
}

/** The transitions of a turn: one row for each state, one cell for each input. */
export const TRANSITIONS: Readonly<Record<TurnState, Row>> = {
  claimed: {
    begin: to('claimed', { do: 'count attempt' }),
    run: to('open', start('deadline'), CALL_AGENT),
    leave: to('leaving', FINISH),
    interrupted: to('leaving', failed(FAILURE_TEXTS.interrupted), FINISH),
    exhausted: to('leaving', failed(FAILURE_TEXTS.exhausted), FINISH),
    keep: to('kept'),
    ...never('expired'),
    replaced: to('claimed'),
    ...withoutAgent(),
  },
  kept: {
    ...never('leave', 'interrupted', 'keep'),
    begin: to('kept', { do: 'count attempt' }),
    run: to('open', start('deadline'), CALL_AGENT),
    exhausted: to('leaving', failed(FAILURE_TEXTS.exhausted), FINISH),
    expired: to('leaving', failed(FAILURE_TEXTS.expired), FINISH),
    replaced: to('leaving', FINISH),
    ...withoutAgent(),
  },
  'handing back': {
    // The storage may still answer that it has counted the attempt.
    ...all(STARTS, to('handing back')),
    ...withoutAgent(),
    ...all(['cancel', 'replaced', 'hand over'], to('handing back')),
    'give up': to('lost', ABANDON, END),
    released: to('handed over', END),
    'release failed': to('lost', RELEASE_FAILED, END),
  },
  drafted: {
    ...never(...STARTS, ...TIMERS, ...STORING, ...RELEASING, 'left', 'fenced'),
    ...NO_AGENT,
    ...never('cancel', 'replaced', 'hand over', 'give up', 'not held'),
    run: to('draft', start('deadline'), CALL_AGENT),
  },
  draft: {
    ...never(...STARTS, 'expiry', 'grace', ...STORING, ...RELEASING, 'left', 'fenced'),
    ...agentWorks(storing, [STORE, WORKING], [STORE]),
    announced: to('storing open', STORE),
    message: to('lingering', answer('reply'), END, start('grace')),
    'threw A2AError': to('ended', STOP_TIMER, answer('error'), END, RELEASE_AGENT),
    ...all(AFTER_CALL, to('draft')),
    ...never('cancel', 'replaced', 'not held'),
    'hand over': to('ended', STOP_TIMER, answer('closing'), END, abort('closing'), RELEASE_AGENT),
    'give up': to('lost', STOP_TIMER, answer('closing'), END, abort('taken over'), RELEASE_AGENT),
  },
  ...LIVE,
  'storing open': storingRow('open'),
  'storing running': storingRow('running'),
  'storing asking': storingRow('asking'),
  'storing canceling': storingRow('canceling'),
  'storing asked': storingRow('asked'),
  'storing ending': storingRow('ending'),
  'storing leaving': storingRow('leaving'),
  'storing handing over': storingRow('handing over'),
  lingering: {
    ...over('lingering'),
    ...never(...STORING, 'released', 'release failed'),
    returned: to('ended', STOP_TIMER, RELEASE_AGENT),
    ...all(THROWS, to('ended', STOP_TIMER, LOG_LATE_ERROR, RELEASE_AGENT)),
    grace: to('ended', abort('over'), RELEASE_AGENT),
  },
  ended: { ...over('ended'), ...never('grace', ...STORING, 'released', 'release failed') },
  'handed over': { ...over('handed over'), ...never('grace', ...STORING, 'released', 'release failed') },
  lost: {
    ...over('lost'),
    ...never('grace'),
    // The task of a draft was stored too late: the next process runs its turn.
    stored: to('lost', HAND_OVER),
    ...all(['store overdue', 'store failed', 'released'], to('lost')),
    'release failed': to('lost', RELEASE_FAILED),
  },
};
