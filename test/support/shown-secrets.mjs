// The search for planted secrets in the suites that are not vitest's.
import { SecretWatch } from '../../packages/parley/test/planted-secrets.ts';

/** Watches both outputs of a process. */
export function watchedOutputs(child, name) {
  const watch = new SecretWatch();
  for (const stream of ['stdout', 'stderr']) {
    child[stream].on('data', (piece) => watch.read(`${stream} of ${name}`, String(piece)));
  }
  return watch;
}
