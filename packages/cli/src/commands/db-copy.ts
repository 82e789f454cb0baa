import type { Invocation } from '../command-line/invocation.js';
import { backendsOf } from '../database/backends.js';
import { usageError } from '../failure/cli-error.js';

/** Number of tasks between two lines of progress, if stderr is no terminal. */
const STEP = 10_000;

/** Copies all tasks of a database into another one. */
export async function run({ args: [from, to], settings, output }: Invocation): Promise<number> {
  if (from === undefined || to === undefined)
    throw usageError('db copy takes two database urls', 'parley help db copy');
  const { copyStorage } = await import('parley-a2a/storage');
  let told = 0;
  const copied = await copyStorage({
    from,
    to,
    backends: await backendsOf(from, to),
    resume: settings.isOn('resume'),
    onProgress: (tasks, all) => {
      if (output.watched) output.progress(`${tasks} of ${all} tasks`);
      else if (tasks - told >= STEP) {
        told = tasks;
        output.note(`${tasks} of ${all} tasks`);
      }
    },
  });
  if (output.json) {
    output.document({ copied });
    return 0;
  }
  output.field('Tasks', `${copied.tasks}${copied.present > 0 ? `, ${copied.present} of them were there` : ''}`);
  output.field('Events', String(copied.records));
  output.field('Turns', String(copied.turns));
  output.field('Webhooks', String(copied.pushConfigs));
  output.field('Idempotency keys', String(copied.keys));
  return 0;
}
