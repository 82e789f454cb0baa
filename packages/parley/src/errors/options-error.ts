import { beginAtCaller } from './callers-stack.js';

/** Invalid options or settings, with every problem named. Local: thrown when an application starts, never sent. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  /** One sentence for each problem. */
  readonly problems: readonly string[];

  constructor(subject: string, problems: readonly string[]) {
    super(`${subject}: ${problems.join('; ')}`);
    this.problems = problems;
    beginAtCaller(this);
  }
}
