import type { Failure } from './failure.js';

/** Thrown with a failure that is ready to be printed. */
export class ReportedFailure extends Error {
  override readonly name = 'ReportedFailure';
  readonly failure: Failure;

  constructor(failure: Failure, cause: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}
