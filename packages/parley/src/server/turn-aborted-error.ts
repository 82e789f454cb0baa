/** The texts of the reasons, for logs. */
const TEXTS = {
  canceled: 'The task was canceled',
  deadline: 'The deadline has passed',
  expired: 'The task waited too long and has expired.',
  replaced: 'A message of the caller takes the place of the turn',
  closing: 'The server is shutting down',
  'taken over': 'The turn was taken over by another process',
  'not stored': 'The task could not be stored',
  failed: 'The agent has failed',
  invalid: 'The agent gave an invalid response.',
  'too fast': 'The agent published faster than its events can be stored.',
  'too large': 'The agent produced more than a task can hold.',
  'over budget': 'A budget of tokens is used up',
  over: 'The turn is over',
} as const;

/**
 * The reason why the agent of a turn must stop.
 * - `canceled`: a caller has canceled the task
 * - `deadline`: the turn has exceeded its time limit
 * - `expired`: the task has waited too long for its caller
 * - `replaced`: a message of the caller arrived instead of the authorization that the agent waited for
 * - `closing`: the server shuts down. Another process may run the turn
 * - `taken over`: another process may write the turn
 * - `not stored`: the storage has refused the task
 * - `failed`: the agent threw outside of its promise
 * - `invalid`, `too fast`, `too large`: the agent has published an event that the task cannot accept
 * - `over budget`: the models of the turn have used up a budget of tokens
 * - `over`: the agent has published its last event, and has not returned within the grace period
 */
export type TurnAbortReason = keyof typeof TEXTS;

/** The reason of `RequestContext.signal` after an abort. */
export class TurnAbortedError extends Error {
  override readonly name = 'TurnAbortedError';
  readonly reason: TurnAbortReason;

  constructor(reason: TurnAbortReason) {
    super(TEXTS[reason]);
    this.reason = reason;
  }
}
