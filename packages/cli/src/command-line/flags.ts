import { nameSettings, SERVER_SETTINGS, type ServerSetting, type SettingName } from 'parley-a2a/server-settings';
import { BINDING_FLAGS, type BindingFlag, SERVED_BINDINGS, TRANSPORT_NAMES } from '../agent/bindings.js';
import { SHARED_EXAMPLE } from '../database/backends.js';

/** A flag. It has the same meaning and type on every command that takes it. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly help: string;
  /** Name of its value in the help. */
  readonly value?: string;
  readonly short?: string;
  /** True if the flag may be given several times. A variable separates the values by commas. */
  readonly repeats?: boolean;
  /** Other accepted spellings, which are not in the help. */
  readonly aliases?: readonly string[];
  /** Default value. */
  readonly builtIn?: string;
  /** An environment variable that many tools read. Every other setting has precedence. */
  readonly commonVariable?: string;
  /** True if the value is never printed. */
  readonly secret?: boolean;
  /** Accepted values. Hidden ones come last. */
  readonly choices?: readonly string[];
}

const text = (value: string, help: string, more: Partial<Flag> = {}): Flag => ({
  type: 'string',
  value,
  help,
  ...more,
});
const onOff = (help: string, more: Partial<Flag> = {}): Flag => ({ type: 'boolean', help, ...more });
const secret = { secret: true };

/** A flag that is a setting of every ready-made server. */
export type ServerFlag = NonNullable<(typeof SERVER_SETTINGS)[SettingName]['flag']>;

/** Returns the name of a setting for users: its flag, or its variable if it has no flag. */
export function settingName(name: SettingName): string {
  const { flag, variable }: ServerSetting = SERVER_SETTINGS[name];
  return flag === undefined ? variable : `--${flag}`;
}

/** Lists without a flag that `serve` takes from the environment. */
export const SERVED_VARIABLES: readonly SettingName[] = [
  'apiKeys',
  'cardKeys',
  'corsOrigins',
  'publicHosts',
  'secretKeys',
  'trustProxy',
];

/** Returns the entries of a setting without a flag; none if `serve` does not take it. */
export function variableTexts(name: SettingName): readonly string[] {
  return SERVED_VARIABLES.includes(name) ? listOf(process.env[SERVER_SETTINGS[name].variable] ?? '') : [];
}

/** Returns the entries of a list, separated by commas. */
export function listOf(value: string): string[] {
  return value
    .split(',')
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '');
}

function settingFlag({ form, value, variable, repeats, secret: isSecret, unset, ...row }: ServerSetting): Flag {
  const meaning = unset === undefined ? row.help : `${row.help} (default: ${unset})`;
  return {
    type: form === 'boolean' ? 'boolean' : 'string',
    help: nameSettings(meaning, settingName)
      .replace(/\[([^[\]]+)\]\([^()[\]]+\)/g, '$1')
      .replaceAll('`', ''),
    commonVariable: variable,
    ...(value !== undefined && { value }),
    ...(repeats && { repeats }),
    ...(isSecret && secret),
    ...(form !== 'boolean' && row.default !== undefined && { builtIn: row.default }),
  };
}

const settingRows: readonly ServerSetting[] = Object.values(SERVER_SETTINGS);

/** The flags of settings, by their long name. */
const SERVER_FLAGS = Object.fromEntries(
  settingRows.flatMap((row) => (row.flag === undefined ? [] : [[row.flag, settingFlag(row)]])),
) as Readonly<Record<ServerFlag, Flag>>;

/** The names of these flags. */
export const SERVER_FLAG_NAMES = Object.keys(SERVER_FLAGS) as readonly ServerFlag[];

const bindingFlags = Object.fromEntries(BINDING_FLAGS.map((name) => [name, SERVED_BINDINGS[name].flag])) as Readonly<
  Record<BindingFlag, Flag>
>;

/** Every flag, by its long name. */
export const FLAGS = {
  'agent-card': text('ref', 'the agent: a host, a URL, a card URL, a file:// URL or a path', {
    short: 'a',
  }),
  endpoint: text('url', 'call this address without a card; needs one --transport', { short: 'e' }),
  transport: text(
    'binding',
    `${TRANSPORT_NAMES.toUpperCase().replace(/, (\S+)$/, ' or $1')}, in order of preference (default: the order of the card)`,
    {
      repeats: true,
    },
  ),
  'a2a-version': text('version', 'protocol version, such as 0.3 (default: highest 1.x)'),
  tenant: text('id', 'tenant, in place of the one in the card'),
  bearer: text('token', 'bearer token', secret),
  'api-key': text('key', 'API key, placed as the card says', secret),
  auth: text('value', 'value of the header Authorization', secret),
  'client-cert': text('path', 'client certificate for mutual TLS, as PEM; needs --client-key'),
  'client-key': text('path', 'key of that certificate, as PEM'),
  'ca-cert': text('path', 'certificate of a further authority to trust, as PEM'),
  'card-key': text(
    'path|url',
    'accept only cards signed by this key: a JWK or a key set, from a file or an https URL',
    {
      repeats: true,
    },
  ),
  'card-key-origin': text('origin', 'origin of key sets that signatures name; card: origin of the card', {
    repeats: true,
  }),
  'svc-param': text('key:value', 'service parameter (an HTTP header)', { repeats: true }),
  extension: text('uri', 'URI of a protocol extension to declare', { repeats: true }),
  insecure: onOff('do not verify TLS certificates'),
  config: text('path', 'use this .env file instead of the local one'),
  output: text('format', 'text or json', {
    short: 'o',
    builtIn: 'text',
    choices: ['text', 'json', 'jsonl'],
  }),
  verbose: onOff('show all details: ids of artifacts, metadata, history'),
  'trace-url': text('url', 'url of a trace in a tracing tool, with {traceId}; --verbose shows it for a task'),
  debug: onOff('show requests and responses on stderr'),
  help: onOff('show help and exit', { short: 'h' }),
  version: onOff('show the version and exit', { short: 'v' }),

  text: text('string', 'add a text part', { repeats: true, aliases: ['text-part'] }),
  file: text('path|url', 'add a file part: the content of a path, or a reference to a URL', {
    repeats: true,
    aliases: ['file-part'],
  }),
  data: text('path|-|json', 'add a data part: a JSON file, standard input, or JSON itself', {
    repeats: true,
    aliases: ['data-part'],
  }),
  'media-type': text('type', 'media type of the part before it', { repeats: true }),
  'request-payload': text('file|json', 'the whole request instead of parts and ids'),
  stream: onOff('show events as they arrive; task list -o json: one task per line'),
  async: onOff('print the ids and do not wait', {
    aliases: ['immediate', 'return-immediately', 'no-wait'],
  }),
  wait: onOff('wait until the task has ended or waits for you'),
  'context-id': text('id', 'context of a new task, or of the tasks to list', { aliases: ['context'] }),
  'task-id': text('id', 'continue this task', { aliases: ['task'] }),
  metadata: text('json', 'metadata of the request: a JSON object'),
  'await-auth': onOff('wait on while the task asks for authorization'),
  'poll-interval': text('duration', 'time between polls', {
    aliases: ['polling-interval'],
    builtIn: '2s',
  }),
  timeout: text('duration', 'longest wait (default: no limit)'),
  history: text('n', 'most messages of the history to get with a task'),
  'save-fileparts': text('dir', 'save files of the answer in this folder'),

  agent: text('ref', 'an agent whose skills become tools', { repeats: true }),
  http: text('port', 'serve streamable HTTP on this port of loopback; 0 takes a free one'),

  'no-open': onOff('print the url of the console, and open no browser'),

  validate: onOff('check the card against the schema of A2A'),
  extended: onOff('get the extended card, with credentials'),
  tck: onOff('add the checks of the wire and the scenarios of the compatibility kit'),
  status: text('state', 'only tasks in this state, such as input-required'),
  since: text('time', 'only tasks whose status changed after this time (RFC 3339)'),
  'page-size': text('n', 'tasks on a page, 1 to 100', { aliases: ['limit'] }),
  'page-token': text('token', 'token of the page, from the page before'),
  'with-artifacts': onOff('include the artifacts of the tasks'),
  dir: text('path', 'folder for the files', { builtIn: '.' }),
  'artifact-id': text('id', 'only this artifact', { repeats: true }),
  'max-bytes': text('size', 'largest file to download, such as 500MB', { builtIn: '16GB' }),
  'file-origin': text('origin', 'also download files from this origin; public: from any public address', {
    repeats: true,
  }),
  force: onOff('overwrite files that exist'),
  url: text('url', 'address of the webhook'),
  id: text('id', 'id of the configuration'),
  token: text('token', 'token that notifications carry', secret),
  'auth-scheme': text('scheme', 'scheme that notifications authenticate with'),
  'auth-credentials': text('value', 'credentials of that scheme', secret),

  'client-id': text('id', 'OAuth client id'),
  'client-secret': text('secret', 'OAuth client secret; uses the client credentials flow', secret),
  issuer: text('url', 'authorization server (default: that of the card)'),
  scope: text(
    'scope',
    'OAuth scope of the token (default: those that the card requires), or scope of the key or password',
    { repeats: true },
  ),
  'step-up': text('scope', 'OAuth scope to add to the token if the agent asks for it', { repeats: true }),
  scheme: text('name', 'security scheme of the card'),

  echo: onOff('serve an agent that repeats messages'),
  exec: text('command', 'serve a program: message on its stdin, answer on its stdout'),
  chunk: text('delimiter', 'with --exec: stream the answer, split at this text (\\n for lines)'),
  proxy: text('url', 'serve a proxy of this agent and log its traffic'),
  'traffic-log': text('file', 'with --proxy: log to this file (default: stderr)'),
  ...SERVER_FLAGS,
  'public-url': { ...SERVER_FLAGS['public-url'], aliases: ['advertise-address'] },
  name: text('name', 'name of the agent'),
  description: text('text', 'description of the agent'),
  'signing-key': text('path', 'key that signs: PEM, a JWK or a key set', { repeats: true }),
  jku: text('url', 'https URL of the public keys, which the signatures name'),
  expires: text('duration', 'lifetime of the key or password (default: no end)'),
  'secret-keys-file': text('path', 'file of keys that encrypt secrets in the storage, such as credentials of webhooks'),
  ...bindingFlags,
  listed: text(
    'cards',
    `with ${BINDING_FLAGS.map((name) => `--${name}`).join(' or ')}: cards that list it: public, extended (that one only), never`,
  ),
  database: text(
    'url',
    `storage of tasks: sqlite:./data/parley.db, ${SHARED_EXAMPLE} (default: DATABASE_URL, or memory:)`,
  ),
  watch: onOff('serve the module again after each change of its files; tasks are kept'),
  workers: text('n', 'number of processes behind one port; max: one per core'),
  'metrics-port': text(
    'port',
    'with --workers on a database that servers share: port of the metrics of the first worker; the others follow',
  ),
  drain: text('duration', 'time in which a stopping server still answers, and /readyz fails', { builtIn: '0s' }),
  quiet: onOff('log errors only'),
  finished: text('duration', 'delete tasks that ended longer ago', { builtIn: '30d' }),
  'event-log': text('duration', 'delete event logs of tasks that ended longer ago', { builtIn: '1h' }),
  resume: onOff('go on with a copy that was interrupted'),
  'dry-run': onOff('show the changes without making them'),
  owner: text('id', 'user whose data are meant, with its issuer or scheme, such as apikey|ada'),
  'anonymous-owner': onOff('the data of callers without a name'),
  'only-agent': text('id', "only this agent's data (default: those of all agents)"),
  'only-tenant': text('id', 'only the data in this tenant (default: those in all tenants)'),
  'file-store': text('dir', 'folder of the file store of the server'),
  to: text('dir', 'folder to make'),
  yes: onOff('do not ask for a confirmation'),
} as const satisfies Readonly<Record<string, Flag>>;

/** The long name of a flag. */
export type FlagName = keyof typeof FLAGS;

/** Returns the description of a flag. */
export function flagOf(name: FlagName): Flag {
  return FLAGS[name];
}

/** Every flag name, in the order of the table. */
export const FLAG_NAMES = Object.keys(FLAGS) as readonly FlagName[];

/** Returns the environment variable of a flag. */
export function variableOf(name: FlagName): string {
  return `A2ACLI_${name.toUpperCase().replaceAll('-', '_')}`;
}
