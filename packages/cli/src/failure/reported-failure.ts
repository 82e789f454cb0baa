import type { Failure } from './failure.js';

/** A failure whose report is complete. */
export class ReportedFailure extends Error {
  override readonly name = 'ReportedFailure';
  readonly failure: Failure;

  constructor(failure: Failure, cause: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}
