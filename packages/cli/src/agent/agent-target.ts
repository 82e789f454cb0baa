import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AgentCard } from 'parley-a2a';
import type { Invocation } from '../command-line/invocation.js';
import { CliError, usageError } from '../failure/cli-error.js';
import { TRANSPORT_NAMES, TRANSPORTS } from './bindings.js';
import { namesFile, parseCardReference } from './card-reference.js';
import { preferredBindings } from './transports.js';

/** The card of an agent, or a URL to find it at. */
export type AgentTarget = string | AgentCard;

/**
 * Returns the agent that an argument or the settings select. Reads files, but does not fetch URLs.
 * @throws CliError
 */
export function agentTarget({ command, settings, output }: Invocation, argument?: string): AgentTarget {
  if (argument !== undefined && settings.findSetting('endpoint')?.source === 'flag')
    throw usageError('--endpoint and the name of an agent exclude each other');
  const isEndpoint = argument === undefined && settings.eitherText('endpoint', 'agent-card') === 'endpoint';
  const endpoint = isEndpoint ? settings.text('endpoint') : undefined;
  if (endpoint !== undefined)
    return cardOfEndpoint(endpoint, preferredBindings(settings.list('transport')), settings.text('a2a-version'));
  const reference = argument ?? settings.text('agent-card');
  if (reference === undefined)
    throw usageError('which agent? Name it by --agent-card', `parley ${command.path} … -a localhost:8080`);
  const { url, entry } = parseCardReference(reference);
  if (url.protocol !== 'file:' && namesFile(reference))
    output.note(`${reference} is taken for a host; for the file of that name write ./${reference}`);
  if (url.protocol === 'file:') return cardInFile(url, entry);
  if (entry !== undefined) url.hash = encodeURIComponent(entry);
  return url.href;
}

/** Makes a card from the address of an interface. */
function cardOfEndpoint(url: string, bindings: readonly string[], version = '1.0'): AgentCard {
  const [protocolBinding, ...others] = bindings;
  if (protocolBinding === undefined || others.length > 0)
    throw usageError(`--endpoint needs exactly one --transport: ${TRANSPORT_NAMES}`);
  const isUrl = URL.parse(url) !== null;
  if (!isUrl && !TRANSPORTS.some((one) => one.binding === protocolBinding && one.takesAddresses))
    throw usageError(`--endpoint is a URL, not "${url}"`);
  return {
    name: (isUrl && new URL(url).host) || url,
    description: '',
    version: '',
    supportedInterfaces: [{ url, protocolBinding, protocolVersion: version }],
    // The card is unknown, so no capability is excluded.
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
}

interface Catalog {
  readonly entries: readonly { readonly identifier?: string; readonly data?: AgentCard; readonly url?: string }[];
}

function cardInFile(url: URL, entry: string | undefined): AgentTarget {
  const value = documentIn(url);
  if (!('entries' in value)) return value as AgentCard;
  const entries = (value as Catalog).entries.filter((one) => one.data !== undefined || one.url !== undefined);
  const found = entry === undefined ? entries : entries.filter(({ identifier }) => identifier === entry);
  const [first, ...others] = found;
  if (first === undefined) throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `${fileURLToPath(url)} names no such agent`);
  if (others.length > 0) {
    const identifiers = found.map(({ identifier }) => identifier).join(', ');
    throw usageError(
      `${fileURLToPath(url)} names several agents: ${identifiers}`,
      'pick one by #<identifier> behind the path',
    );
  }
  return first.data ?? (first.url as string);
}

function documentIn(url: URL): object {
  const path = fileURLToPath(url);
  let text: string;
  try {
    // Some editors begin a file with a byte order mark.
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `${path} cannot be read`, { cause });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (cause) {
    throw new CliError('A2ACLI_ERR_CARD_INVALID', `${path} is no JSON`, { cause });
  }
  throw new CliError('A2ACLI_ERR_CARD_INVALID', `${path} is no card`);
}
