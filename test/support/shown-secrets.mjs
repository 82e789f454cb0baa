// The search for planted secrets in the suites that are not vitest's.
import { SecretWatch } from './planted-secrets.ts';

/** Searches both outputs of a process. Returns the function that throws if one has shown a planted secret. */
export function secretsOf(child, name) {
  const watch = new SecretWatch();
  for (const stream of ['stdout', 'stderr']) {
    child[stream].on('data', (piece) => watch.read(`${stream} of ${name}`, String(piece)));
  }
  return () => {
    const leaks = watch.take().map(({ source, text }) => `${source}: …${text}…`);
    if (leaks.length > 0) throw new Error(`A planted secret is shown:\n${leaks.join('\n')}`);
  };
}
