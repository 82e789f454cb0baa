/** A flag. It has the same meaning and type on every command that takes it. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly help: string;
  /** Name of its value in the help. */
  readonly value?: string;
  readonly short?: string;
  /** True if the flag may be given several times. A variable separates the values by commas. */
  readonly repeats?: boolean;
  /** Other accepted spellings, which the help does not show. */
  readonly aliases?: readonly string[];
  /** Default value. */
  readonly builtIn?: string;
  /** An environment variable that many tools read. It counts after all other settings. */
  readonly commonVariable?: string;
  /** True if the value is never shown. */
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

/** Every flag, by its long name. */
export const FLAGS = {
  'agent-card': text('ref', 'the agent: a host, a URL, a card URL, a file:// URL or a path', {
    short: 'a',
  }),
  endpoint: text('url', 'call this address without a card; needs exactly one --transport', { short: 'e' }),
  transport: text(
    'binding',
    'HTTP+JSON or JSONRPC; repeat it in order of preference (default: the order of the card)',
    {
      repeats: true,
    },
  ),
  'a2a-version': text(
    'version',
    'protocol version; below 1.0 only when it is asked for here (default: highest of 1.x)',
  ),
  tenant: text('id', 'another tenant than the one that the card names'),
  bearer: text('token', 'bearer token', secret),
  'api-key': text('key', 'API key, sent where the card says', secret),
  auth: text('value', 'the value of the header Authorization, as it is', secret),
  'client-cert': text('path', 'client certificate for mutual TLS, as PEM; goes with --client-key'),
  'client-key': text('path', 'key of that certificate, as PEM'),
  'ca-cert': text('path', 'trust what this certificate has signed, too, as PEM'),
  'card-key': text(
    'path|url',
    'accept only cards signed by this key: a JWK or a key set, from a file or an https URL',
    {
      repeats: true,
    },
  ),
  'card-key-origin': text('origin', 'fetch the key sets that signatures name from here; card: where the card is', {
    repeats: true,
  }),
  'svc-param': text('key:value', 'service parameter (an HTTP header)', { repeats: true }),
  extension: text('uri', 'declare a protocol extension that the agent asks for', { repeats: true }),
  insecure: onOff('do not verify TLS certificates'),
  config: text('path', 'this .env file instead of the local one'),
  output: text('format', 'text or json', {
    short: 'o',
    builtIn: 'text',
    choices: ['text', 'json', 'jsonl'],
  }),
  verbose: onOff('show everything: ids of artifacts, metadata, history'),
  debug: onOff('show on stderr what is sent and received'),
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
  stream: onOff('deliver events as they come'),
  async: onOff('return the ids at once instead of waiting', {
    aliases: ['immediate', 'return-immediately', 'no-wait'],
  }),
  wait: onOff('wait until the task has ended or asks for something', { aliases: ['watch'] }),
  'context-id': text('id', 'a new task in this context', { aliases: ['context'] }),
  'task-id': text('id', 'the next message of this task', { aliases: ['task'] }),
  metadata: text('json', 'metadata of the request: a JSON object'),
  'await-auth': onOff('go on waiting while the task asks for authorization, which is given elsewhere'),
  'poll-interval': text('duration', 'time between polls', {
    aliases: ['polling-interval'],
    builtIn: '2s',
  }),
  timeout: text('duration', 'longest wait (default: no limit)'),
  history: text('n', 'this many messages of history'),
  'save-fileparts': text('dir', 'save files of the answer in this folder'),

  validate: onOff('check the card against the schema of A2A'),
  extended: onOff('get the extended card, with credentials'),
  tck: onOff('play the scenarios of the compatibility kit too, for agents that know its message ids'),
  status: text('state', 'only tasks in this state, such as input-required'),
  since: text('time', 'only tasks whose status changed after this time (RFC 3339)'),
  'page-size': text('n', 'tasks on a page, 1 to 100', { aliases: ['limit'] }),
  'page-token': text('token', 'the page that follows, as an earlier one named it'),
  'with-artifacts': onOff('with the artifacts of the tasks'),
  dir: text('path', 'folder for the files', { builtIn: '.' }),
  'artifact-id': text('id', 'only this artifact', { repeats: true }),
  force: onOff('overwrite files that exist'),
  url: text('url', 'address of the webhook'),
  id: text('id', 'id of the configuration'),
  token: text('token', 'token that notifications carry', secret),
  'auth-scheme': text('scheme', 'scheme that notifications authenticate with'),
  'auth-credentials': text('value', 'credentials of that scheme', secret),

  'client-id': text('id', 'OAuth client id'),
  'client-secret': text('secret', 'OAuth client secret; chooses client credentials', secret),
  issuer: text('url', 'the authorization server (default: that of the card)'),
  scope: text('scope', 'OAuth scope (default: those that the card requires)', { repeats: true }),
  'step-up': text('scope', 'OAuth scope that a login may be widened to when the agent asks for it', { repeats: true }),
  scheme: text('name', 'security scheme of the card'),

  echo: onOff('an agent that says what it was told'),
  exec: text('command', 'an agent that runs a program: message on its stdin, answer from its stdout'),
  chunk: text('delimiter', 'with --exec: stream the answer, cut at this text (\\n for lines)'),
  proxy: text('url', 'pass everything on to this agent and log the traffic'),
  'traffic-log': text('file', 'with --proxy: log to this file (default: stderr)'),
  host: text('host', 'address to listen on', { builtIn: '127.0.0.1', commonVariable: 'HOST' }),
  port: text('port', 'port to listen on; 0 takes a free one', { builtIn: '8080', commonVariable: 'PORT' }),
  name: text('name', 'name of the agent'),
  description: text('text', 'description of the agent'),
  'public-url': text('url', 'base URL that the card tells', { aliases: ['advertise-address'] }),
  'allow-anonymous': onOff('listen beyond this machine although nobody has to authenticate'),
  database: text('url', 'where tasks are kept, such as sqlite:./data/parley.db (default: DATABASE_URL, or memory:)'),
  quiet: onOff('log errors only'),
  finished: text('duration', 'remove tasks that ended longer ago', { builtIn: '30d' }),
  'event-log': text('duration', 'remove event logs of tasks that ended longer ago', { builtIn: '1h' }),
  'dry-run': onOff('say what would be done, and do nothing'),
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
