// The load generator's process: takes orders from its parent, one after the other.
import { type LoadOrder, type LoadResult, LoadRun } from './load-run.js';

/** Messages from the generator to its parent. */
export type GeneratorMessage =
  | { readonly kind: 'ready' | 'begun' | 'ended' }
  | { readonly kind: 'result'; readonly result: LoadResult };

process.once('disconnect', () => process.exit());
process.on('message', (order: LoadOrder) => {
  const run = new LoadRun(order).run({ begun: () => tell({ kind: 'begun' }), ended: () => tell({ kind: 'ended' }) });
  run.then((result) => tell({ kind: 'result', result }));
});
tell({ kind: 'ready' });

function tell(message: GeneratorMessage): void {
  process.send?.(message);
}
