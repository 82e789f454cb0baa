import type { TurnEffect, TurnInput, TurnState } from '../src/server/execution/turn-state.js';
import { TRANSITIONS } from '../src/server/execution/turn-transitions.js';

/** Events that an agent may publish at any time after it was called, even after it has returned. */
const EVENTS: readonly TurnInput[] = [
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
];
/** Each end of the promise of an agent. */
const RETURNS: readonly TurnInput[] = ['returned', 'threw', 'threw A2AError', 'threw denied', 'threw expired'];
const RUNS_AGENT: readonly TurnEffect['do'][] = ['call agent', 'abort agent', 'call cancel of agent'];
const OF_AGENT: readonly TurnEffect['do'][] = [...RUNS_AGENT, 'release agent', 'log late error'];
const OVER: readonly TurnState[] = ['ended', 'handed over', 'lost'];

/** The facts that decide which inputs can come next. */
interface Facts {
  readonly origin: 'claim' | 'draft';
  readonly state: TurnState;
  /** The list of turns has said how the turn starts. */
  readonly started: boolean;
  readonly counting: boolean;
  readonly agent: 'absent' | 'called' | 'working' | 'gone';
  readonly awaitsFirstStep: boolean;
  readonly aborted: boolean;
  readonly released: boolean;
  readonly timer: 'none' | 'deadline' | 'expiry' | 'grace';
  readonly store: 'none' | 'under way' | 'over';
  readonly log: 'none' | 'waiting' | 'open' | 'abandoned';
  readonly records: 'none' | 'some' | 'terminal';
  readonly uncommitted: boolean;
  readonly finished: boolean;
  readonly flushing: boolean;
  readonly releasing: boolean;
  readonly left: boolean;
  readonly answered: boolean;
}

/** A turn and its world: the agent, the storage, the timers and the process. Each of them can do everything. */
export class TurnWorld {
  readonly #facts: Facts;

  private constructor(facts: Facts) {
    this.#facts = facts;
  }

  static of(origin: 'claim' | 'draft'): TurnWorld {
    return new TurnWorld({
      origin,
      state: origin === 'claim' ? 'claimed' : 'drafted',
      started: false,
      counting: false,
      agent: 'absent',
      awaitsFirstStep: false,
      aborted: false,
      released: false,
      timer: 'none',
      store: 'none',
      log: origin === 'claim' ? 'open' : 'none',
      records: 'none',
      uncommitted: false,
      finished: false,
      flushing: false,
      releasing: false,
      left: false,
      answered: false,
    });
  }

  get state(): TurnState {
    return this.#facts.state;
  }

  /** Equal for worlds that behave the same from here on. */
  get key(): string {
    return Object.values(this.#facts).join('|');
  }

  /** True if only the end of the agent is missing. */
  get isOver(): boolean {
    return OVER.includes(this.#facts.state);
  }

  /** Inputs of the timers and the storage. They come even if the agent and the process do nothing more. */
  get certain(): readonly TurnInput[] {
    const facts = this.#facts;
    const inputs: TurnInput[] = [];
    if (facts.timer === 'deadline') inputs.push('deadline');
    if (facts.timer === 'expiry') inputs.push('expiry');
    if (facts.timer === 'grace') inputs.push('grace');
    if (facts.store === 'under way') inputs.push('stored', 'store failed', 'store overdue');
    if (facts.log === 'open' && facts.uncommitted) inputs.push('fenced');
    if (facts.log === 'open' && (facts.finished || facts.records === 'terminal')) inputs.push('left');
    if (facts.flushing && (facts.log === 'open' || facts.log === 'abandoned')) inputs.push('flushed');
    if (facts.releasing) inputs.push('released', 'release failed');
    if (facts.counting) inputs.push('run', 'not held', 'begin');
    return inputs;
  }

  /** All inputs that can come now. */
  get possible(): readonly TurnInput[] {
    const facts = this.#facts;
    const inputs: TurnInput[] = [...this.certain];
    if (!facts.started) {
      if (facts.origin === 'draft') return ['run'];
      inputs.push('begin', 'run', 'leave', 'interrupted', 'exhausted', 'keep');
    }
    if (facts.agent !== 'absent') inputs.push(...EVENTS, 'over budget');
    if (facts.agent === 'called') inputs.push('suspended');
    if (facts.agent === 'called' || facts.agent === 'working') inputs.push(...RETURNS);
    if (facts.agent !== 'absent' && !facts.released) inputs.push('threw elsewhere');
    if (facts.awaitsFirstStep) inputs.push('first step over');
    const isKnownToStorage = facts.origin === 'claim' || facts.store === 'under way' || facts.log === 'open';
    if (isKnownToStorage && !facts.left) inputs.push('cancel');
    if (facts.log === 'open' && !facts.left) inputs.push('not held');
    if (facts.state === 'kept') inputs.push('begin', 'exhausted', 'expired');
    if (facts.state.endsWith('asking') || facts.state === 'kept') inputs.push('replaced');
    inputs.push('hand over', 'give up');
    return [...new Set(inputs)];
  }

  /** The world after an input. Throws if a rule is violated. */
  after(input: TurnInput): TurnWorld {
    const next = TRANSITIONS[this.#facts.state][input];
    if (next === 'impossible') throw new Error(`${input} comes in ${this.#facts.state}, which is called impossible`);
    let facts: Facts = { ...this.#facts, ...factsOfInput(input), state: next.state };
    for (const [index, effect] of next.effects.entries()) {
      const before = next.effects[index - 1];
      const isReentrant = before !== undefined && RUNS_AGENT.includes(before.do) && !OF_AGENT.includes(effect.do);
      check(!isReentrant, `${effect.do} after ${before?.do}`);
      facts = performEffect(facts, effect, input);
    }
    checkState(facts);
    return new TurnWorld(facts);
  }
}

/** Facts that follow from an input alone. */
function factsOfInput(input: TurnInput): Partial<Facts> {
  switch (input) {
    case 'begin':
    case 'run':
    case 'leave':
    case 'interrupted':
    case 'exhausted':
    case 'keep':
    case 'expired':
      return { started: true, counting: false };
    case 'not held':
      return { counting: false };
    case 'suspended':
      return { agent: 'working' };
    case 'first step over':
      return { awaitsFirstStep: false };
    case 'returned':
    case 'threw':
    case 'threw A2AError':
    case 'threw denied':
    case 'threw expired':
      return { agent: 'gone' };
    case 'deadline':
    case 'expiry':
    case 'grace':
      return { timer: 'none' };
    case 'stored':
    case 'store failed':
      return { store: 'over' };
    case 'flushed':
      return { flushing: false, uncommitted: false };
    case 'released':
    case 'release failed':
      return { releasing: false };
    case 'left':
    case 'fenced':
      return { log: 'abandoned', uncommitted: false };
    case 'chunk':
    case 'announced':
    case 'working':
    case 'login':
    case 'question':
    case 'rejected':
    case 'terminal':
    case 'message':
    case 'invalid':
    case 'too fast':
    case 'too large':
    case 'threw elsewhere':
    case 'over budget':
    case 'cancel':
    case 'replaced':
    case 'hand over':
    case 'give up':
    case 'store overdue':
      return {};
  }
}

/** The facts after an effect. */
function performEffect(facts: Facts, effect: TurnEffect, input: TurnInput): Facts {
  switch (effect.do) {
    case 'count attempt':
      return { ...facts, counting: true };
    case 'call agent':
      check(facts.agent === 'absent', 'the agent is called twice');
      return { ...facts, agent: 'called' };
    case 'await first step':
      return { ...facts, awaitsFirstStep: true };
    case 'abort agent':
      check(facts.agent !== 'absent' && !facts.released, 'an agent is aborted that does not run');
      check(!facts.aborted, 'the agent is aborted twice');
      return { ...facts, aborted: true };
    case 'call cancel of agent':
      check(facts.agent !== 'absent' && !facts.released, 'an agent is canceled that does not run');
      return facts;
    case 'release agent':
      check(facts.agent !== 'absent' && !facts.released, 'an agent is released that does not run');
      return { ...facts, released: true };
    case 'log late error':
    case 'tell overdue':
    case 'log':
      return facts;
    case 'start timer':
      return { ...facts, timer: effect.timer };
    case 'stop timer':
      return { ...facts, timer: 'none' };
    case 'store task':
      check(facts.origin === 'draft' && facts.store === 'none', 'a task is stored twice');
      return { ...facts, store: 'under way', log: 'waiting' };
    case 'open log':
      check(facts.log === 'waiting' && input === 'stored', 'a log opens without a claim');
      return { ...facts, log: 'open' };
    case 'append event':
      check(EVENTS.includes(input), 'an event is appended that never came');
      return appendRecord(
        facts,
        ['rejected', 'terminal', 'message'].includes(input),
        ['working', 'rejected'].includes(input),
      );
    case 'append status':
      return appendRecord(facts, effect.state !== 'TASK_STATE_WORKING', effect.state === 'TASK_STATE_WORKING');
    case 'append failure':
      return appendRecord(facts, true, false);
    case 'finish log':
      check(!facts.finished && facts.log !== 'abandoned', 'a log is finished twice');
      return { ...facts, finished: true };
    case 'flush log':
      return { ...facts, flushing: true };
    case 'abandon log':
      return { ...facts, log: 'abandoned', uncommitted: false };
    case 'release turn':
      check(!facts.releasing, 'a turn is released twice');
      check((effect.how === 'unbegun') === (facts.agent === 'absent'), `a turn is released as ${effect.how}`);
      return { ...facts, releasing: true };
    case 'answer':
      return { ...facts, answered: true };
    case 'end':
      check(!facts.left, 'a turn leaves twice');
      return { ...facts, left: true };
    case 'refuse event':
      check(EVENTS.includes(input), 'an event is refused that never came');
      return facts;
  }
}

function appendRecord(facts: Facts, isTerminal: boolean, opens: boolean): Facts {
  check(facts.records !== 'terminal', 'a record follows the end of the task');
  check(facts.log === 'waiting' || facts.log === 'open', 'a record without a log');
  check(!facts.finished && !facts.left, 'a record follows the end of the turn');
  const isByAgent = facts.agent !== 'absent';
  check(!isByAgent || facts.records !== 'none' || opens, 'the first record of a turn is not WORKING or REJECTED');
  return { ...facts, records: isTerminal ? 'terminal' : 'some', uncommitted: true };
}

/** Rules that hold in every state. */
function checkState(facts: Facts): void {
  const { state, agent, released, timer } = facts;
  const isAlive = agent !== 'absent' && !released;
  check(
    isAlive === (timer !== 'none'),
    `the timer ${timer} in ${state}, and the agent is ${isAlive ? '' : 'not '}alive`,
  );
  check(!isAlive || !/leaving|handing|ended|handed over|lost/.test(state), `an agent runs in ${state}`);
  if (!OVER.includes(state) && state !== 'lingering') return;
  check(facts.left, `a turn is ${state} and was not reported`);
  check(facts.origin === 'claim' || facts.answered, `a draft is ${state} and its caller has no answer`);
}

function check(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem);
}
