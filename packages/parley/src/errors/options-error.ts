/** Options or settings that cannot work; every problem is named. Local: thrown where an application starts, never sent. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  /** One sentence each. */
  readonly problems: readonly string[];

  constructor(subject: string, problems: readonly string[]) {
    super(`${subject}: ${problems.join('; ')}`);
    this.problems = problems;
  }
}
