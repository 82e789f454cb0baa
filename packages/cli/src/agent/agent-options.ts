import type { ConnectionEvent, ConnectOptions, Fetch } from 'parley-a2a/client';
import type { MutualTls } from 'parley-a2a-mutual-tls';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';
import { AgentCredentials } from './agent-credentials.js';
import type { AgentTarget } from './agent-target.js';
import type { CardSignatures } from './card-signatures.js';
import { loadedBindings, preferredBindings } from './transports.js';

/** Default of `--a2a-version`. */
const DEFAULT_VERSION = '1.0';

/** Options for calling an agent, with its credentials. */
export interface AgentOptions {
  readonly connect: ConnectOptions;
  readonly credentials: AgentCredentials;
  /** Undefined without `--card-key` and `--card-key-origin`: signatures are then not checked. */
  readonly signatures: CardSignatures | undefined;
}

/**
 * Makes the options for calling an agent from the settings.
 * @throws CliError A2ACLI_ERR_USAGE, and A2ACLI_ERR_UNREACHABLE if a key of cards cannot be fetched.
 */
export async function agentOptions(
  { settings, output, tracing }: Invocation,
  target: AgentTarget,
): Promise<AgentOptions> {
  const certificate = await certificateFor(settings, target);
  const tell = output.note.bind(output);
  const credentials = new AgentCredentials({ settings, certificate: certificate?.credentials, tell });
  if (settings.isOn('insecure')) await trustAnybody(output.warn.bind(output), credentials.present);
  for (const { source } of credentials.distrusted)
    output.warn(`${source} is not trusted, but its credential is sent: the agent takes you for its owner`);
  const version = settings.text('a2a-version') ?? DEFAULT_VERSION;
  if (!/^\d+\.\d+(?:\.\d+)?$/.test(version)) throw usageError(`--a2a-version is such as 1.0, not "${version}"`);
  const tenant = settings.text('tenant');
  const timeoutMs = settings.duration('timeout');
  const send = certificate?.fetch;
  const fetch = settings.isOn('debug') ? await traceFetch({ output, credentials, send }) : send;
  const signatures = await signaturesOf(settings, fetch);
  const transports = settings.list('transport');
  return {
    credentials,
    signatures,
    connect: {
      credentials,
      version,
      onConnection: (event) => output.note(connectionNews(event)),
      prefer: preferredBindings(transports),
      bindings: await loadedBindings(settings),
      ...(tracing !== undefined && { interceptors: await tracing.interceptors() }),
      extensions: settings.list('extension'),
      headers: serviceParameters(settings.list('svc-param')),
      ...(tenant !== undefined && { tenant }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(fetch !== undefined && { fetch }),
      ...(signatures !== undefined && { signatures: signatures.options }),
    },
  };
}

/** Formats a notice for people that the connection was lost or restored. */
function connectionNews(event: ConnectionEvent): string {
  if (event.state === 'restored') return `Connected again, by attempt ${event.attempt}.`;
  const { error, attempt, attempts, waitMs } = event;
  return `Connection lost: ${error.message}. Attempt ${attempt} of ${attempts} in ${(waitMs / 1000).toFixed(1)} s.`;
}

/** Parses headers from `key:value` or `key=value`. */
function serviceParameters(pairs: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of pairs) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)\s*[:=](.*)$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) throw usageError(`--svc-param is key:value, not "${pair}"`);
    headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}

interface Traced {
  readonly output: Invocation['output'];
  readonly credentials: AgentCredentials;
  readonly send: Fetch | undefined;
}

async function traceFetch({ output, credentials, send }: Traced): Promise<Fetch> {
  const { tracedFetch } = await import('./wire-trace.js');
  return tracedFetch({ output, secrets: () => credentials.secrets, ...(send !== undefined && { send }) });
}

/** Loads the code for certificates on demand. */
async function certificateFor(settings: Settings, target: AgentTarget): Promise<MutualTls | undefined> {
  const named = (['client-cert', 'client-key', 'ca-cert'] as const).some(
    (name) => settings.findSetting(name) !== undefined,
  );
  return named ? (await import('./client-certificate.js')).clientCertificate(settings, target) : undefined;
}

/** Loads the code for signatures on demand. */
async function signaturesOf(settings: Settings, fetch: Fetch | undefined): Promise<CardSignatures | undefined> {
  const named = (['card-key', 'card-key-origin'] as const).some((name) => settings.list(name).length > 0);
  return named ? (await import('./card-signatures.js')).cardSignatures(settings, fetch) : undefined;
}

async function trustAnybody(warn: (text: string) => void, withCredentials: boolean): Promise<void> {
  // Removes Node.js's own handler, because the tool's warning below is clearer.
  process.removeAllListeners('warning');
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  warn('--insecure: TLS certificates are not verified; an attacker on the network can read and change everything');
  if (withCredentials) warn('--insecure: CREDENTIALS ARE SENT to any server that answers');
}
