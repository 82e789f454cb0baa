import { AgentRefusal } from './wire/agent-refusal.js';

/** The outcome of a check, and the evidence for it. */
export interface Finding {
  readonly status: 'pass' | 'fail' | 'skipped';
  readonly evidence: string;
}

/** The agent meets the requirement. */
export const pass = (evidence: string): Finding => ({ status: 'pass', evidence });

/** The agent breaks the requirement. */
export const fail = (evidence: string): Finding => ({ status: 'fail', evidence });

/** The requirement does not apply to this agent. */
export const skip = (evidence: string): Finding => ({ status: 'skipped', evidence });

/** Passes if there is no fault; the evidence is for that case. */
export function faultless(fault: string | undefined, evidence: string): Finding {
  return fault === undefined ? pass(evidence) : fail(fault);
}

/** Passes if the agent refuses a call for one of these reasons. */
export async function expectRefusal(call: () => Promise<unknown>, reasons: readonly string[]): Promise<Finding> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof AgentRefusal)) throw error;
    return reasons.includes(error.reason) ? pass(error.reason) : fail(`${error.reason}: ${error.message}`);
  }
  return fail(`the call succeeded; expected ${reasons[0]}`);
}

/** The finding for a check that threw an error. */
export function brokenBy(error: unknown): Finding {
  if (error instanceof AgentRefusal) return fail(`${error.reason}: ${error.message}`);
  if (!(error instanceof Error)) return fail(String(error));
  if (error.name === 'TimeoutError') return fail('the time limit of the check passed');
  const { message, cause } = error;
  return fail(cause instanceof Error ? `${message}: ${cause.message || cause.name}` : message);
}
