/** ms of the machine's monotonic clock, as in the journals of the replicas. */
export function monotonic(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** Waits. The harness drives real processes, whose faults last for real time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves when a condition holds. Rejects if it does not in time. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { limitMs, what }: { readonly limitMs: number; readonly what: () => string },
): Promise<void> {
  const end = monotonic() + limitMs;
  while (!(await condition())) {
    if (monotonic() > end) throw new Error(what());
    await pause(100);
  }
}
