import { OptionsError } from '../errors/options-error.js';

/** The error for options that are promises, such as the result of an async function without `await`. */
export function pendingOptions(subject: string, options: object): OptionsError {
  const problems = Object.entries(options).flatMap(([name, value]) => {
    if (value instanceof Promise) return [`${name} is a promise: await it`];
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    return items.flatMap((item, at) => (item instanceof Promise ? [`${name}[${at}] is a promise: await it`] : []));
  });
  return new OptionsError(subject, problems);
}
