import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { MutualTls } from 'parley-a2a-mutual-tls';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';
import type { AgentTarget } from './agent-target.js';

/**
 * Reads the client certificate of the settings, for the origins of the agent only; `undefined` if there is none.
 * @throws CliError A2ACLI_ERR_USAGE
 */
export async function clientCertificate(settings: Settings, target: AgentTarget): Promise<MutualTls | undefined> {
  const ca = settings.text('ca-cert');
  if (ca !== undefined) setDefaultCACertificates([...getCACertificates('default'), pem('ca-cert', ca)]);
  const cert = settings.text('client-cert');
  const key = settings.text('client-key');
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw usageError('--client-cert and --client-key go together');
  const urls = typeof target === 'string' ? [target] : target.supportedInterfaces.map(({ url }) => url);
  const origins = [...new Set(urls.flatMap((url) => URL.parse(url)?.origin ?? []))].filter((origin) =>
    origin.startsWith('https://'),
  );
  const { mutualTls } = await import('parley-a2a-mutual-tls');
  return mutualTls({ origins, identity: { cert: pem('client-cert', cert), key: pem('client-key', key) } });
}

/** Reads the client certificate of the settings as PEM; `undefined` if there is none. */
export function certificatePair(settings: Settings): { readonly cert: string; readonly key: string } | undefined {
  const cert = settings.text('client-cert');
  const key = settings.text('client-key');
  if (cert === undefined || key === undefined) return undefined;
  return { cert: pem('client-cert', cert), key: pem('client-key', key) };
}

function pem(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw usageError(`--${flag}: ${path} cannot be read`);
  }
}
