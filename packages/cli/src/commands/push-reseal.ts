import type { ResealedCounts } from 'parley-a2a/storage';
import type { Invocation } from '../command-line/invocation.js';
import { openDatabase } from '../database/open-database.js';
import { type Audited, withAudit } from '../database/operator-audit.js';
import { usageError } from '../failure/cli-error.js';
import { secretKeysOf } from '../serve/operator-files.js';

/**
 * Encrypts the stored credentials of webhooks with the first key. The exit code is 1 while another key is still needed,
 * or if a key is missing.
 */
export async function run({ settings, output }: Invocation): Promise<number> {
  const keys = secretKeysOf(settings);
  if (keys === undefined)
    throw usageError('--secret-keys-file names the keys, the new one first', 'A2A_SECRET_KEYS may have them too');
  return withAudit(settings, (audited) => reseal(keys, { settings, output, audited }));
}

async function reseal(
  keys: readonly string[],
  { settings, output, audited }: Pick<Invocation, 'settings' | 'output'> & { readonly audited: Audited },
): Promise<number> {
  const storage = await openDatabase(settings);
  try {
    const { resealConfigs } = await import('parley-a2a/storage');
    const dryRun = settings.isOn('dry-run');
    const run = () => resealConfigs(storage, { keys, dryRun });
    const isWhole = ({ old, unreadable }: ResealedCounts) => old + unreadable === 0;
    // A dry run changes nothing.
    const counts = dryRun
      ? await run()
      : await audited({ operation: 'resealConfigs' }, run, (one) => (isWhole(one) ? 'OK' : 'INTERNAL_ERROR'));
    if (output.json) output.document(counts);
    else {
      output.field('Encrypted now', String(counts.resealed));
      output.field('Under the first key before', String(counts.current));
      output.field('Need another key', String(counts.old));
      output.field('Of a missing key', String(counts.unreadable));
    }
    return isWhole(counts) ? 0 : 1;
  } finally {
    await storage.close();
  }
}
