import type { Failure } from './failure.js';

/** A failure that needs no more looking into: it says all there is to say. */
export class ReportedFailure extends Error {
  override readonly name = 'ReportedFailure';
  readonly failure: Failure;

  constructor(failure: Failure, cause: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}
