import type { z } from 'zod';
import { OptionsError } from '../errors/options-error.js';
import { closestName } from './closest-name.js';

/** What is checked, against what, and how it is called. */
export interface OptionsCheck {
  readonly subject: string;
  readonly schema: z.ZodObject;
  readonly options: unknown;
}

/**
 * Checks what an application gave.
 * @throws OptionsError naming every option at fault, unknown ones with what was probably meant.
 */
export function checkOptions({ subject, schema, options }: OptionsCheck): void {
  const result = schema.safeParse(options);
  if (result.success) return;
  const known = Object.keys(schema.shape);
  throw new OptionsError(
    subject,
    result.error.issues.flatMap((issue) => problemsOf(issue, known)),
  );
}

function problemsOf(issue: z.core.$ZodIssue, known: readonly string[]): string[] {
  const place = placeOf(issue.path);
  if (issue.code !== 'unrecognized_keys') return [place === '' ? issue.message : `${place}: ${issue.message}`];
  return issue.keys.map((key) => {
    const meant = issue.path.length === 0 ? closestName(key, known) : undefined;
    const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`;
    return `unknown option "${place === '' ? key : `${place}.${key}`}"${hint}`;
  });
}

function placeOf(path: readonly PropertyKey[]): string {
  return path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`))
    .join('');
}
