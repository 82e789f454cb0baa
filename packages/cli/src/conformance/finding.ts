import { A2AError, type ErrorCode } from 'parley-a2a/client';

/** What a check found, and by what. */
export interface Finding {
  readonly status: 'pass' | 'fail' | 'skipped';
  readonly evidence: string;
}

/** It is as it must be. */
export const pass = (evidence: string): Finding => ({ status: 'pass', evidence });

/** It is not. */
export const fail = (evidence: string): Finding => ({ status: 'fail', evidence });

/** There was nothing to look at. */
export const skipped = (evidence: string): Finding => ({ status: 'skipped', evidence });

/** Passes where there is no fault; the evidence is for that case. */
export function faultless(fault: string | undefined, evidence: string): Finding {
  return fault === undefined ? pass(evidence) : fail(fault);
}

/** Passes where the agent refuses a call with one of these errors. */
export async function refused(call: () => Promise<unknown>, codes: readonly ErrorCode[]): Promise<Finding> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    return codes.includes(error.code) ? pass(error.code) : fail(`${error.code}: ${error.message}`);
  }
  return fail(`answered; expected ${codes[0]}`);
}
