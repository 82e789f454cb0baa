import { printableUrl } from 'parley-a2a/credentials';
import { type FlagName, flagOf, variableOf } from '../command-line/flags.js';
import type { Invocation } from '../command-line/invocation.js';
import type { Setting } from '../settings/settings.js';

const REDACTED = '<redacted>';

/** Prints every setting with its source. */
export async function run({ settings, output }: Invocation): Promise<number> {
  const rows = settings.all().map(({ name, setting }) => ({
    name: variableOf(name),
    value: shownValue(name, setting),
    source: setting?.source ?? 'not set',
    ...(setting?.distrust !== undefined && { trusted: false }),
  }));
  if (output.json) output.document({ settings: rows });
  else
    for (const { name, value, source, trusted } of rows)
      output.field(name, value === null ? source : `${value} (${source}${trusted === false ? ', not trusted' : ''})`);
  return 0;
}

function shownValue(name: FlagName, setting: Setting | undefined): string | null {
  if (setting === undefined) return null;
  if (flagOf(name).secret === true) return REDACTED;
  return setting.values.map((value) => (name === 'database' ? printableUrl(value) : value)).join(',');
}
