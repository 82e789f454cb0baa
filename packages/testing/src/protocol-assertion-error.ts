import { beginAtCaller } from 'parley-a2a/kit';

/** The finding of an assertion: the expectation at an event, and the actual value. */
export interface AssertionFinding {
  /** The name of the assertion. */
  readonly assertion: string;
  /** The index of the event, from 0. Absent: the finding is about the whole sequence. */
  readonly eventIndex?: number;
  readonly expected: string;
  readonly actual: string;
}

/** A failed assertion of this kit. Test runners show it like an error of `node:assert`. */
export class ProtocolAssertionError extends Error implements AssertionFinding {
  override readonly name = 'AssertionError';
  readonly code = 'ERR_ASSERTION';
  readonly assertion: string;
  readonly eventIndex?: number;
  readonly expected: string;
  readonly actual: string;

  constructor({ assertion, eventIndex, expected, actual }: AssertionFinding) {
    const place = eventIndex === undefined ? '' : ` event ${eventIndex}:`;
    super(`${assertion}:${place} expected ${expected}, but got ${actual}`);
    this.assertion = assertion;
    if (eventIndex !== undefined) this.eventIndex = eventIndex;
    this.expected = expected;
    this.actual = actual;
    beginAtCaller(this);
  }
}
