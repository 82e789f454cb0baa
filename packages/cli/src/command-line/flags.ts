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
  endpoint: text('url', 'call this address without a card; needs one --transport', { short: 'e' }),
  transport: text(
    'binding',
    'HTTP+JSON, JSONRPC, GRPC or CAPNWEB, in order of preference (default: the order of the card)',
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
  host: text('host', 'address to listen on', { builtIn: '127.0.0.1', commonVariable: 'HOST' }),
  port: text('port', 'port to listen on; 0 takes a free one', { builtIn: '8080', commonVariable: 'PORT' }),
  name: text('name', 'name of the agent'),
  description: text('text', 'description of the agent'),
  'public-url': text('url', 'base URL in the card', { aliases: ['advertise-address'] }),
  'allow-anonymous': onOff('listen beyond this machine without authentication'),
  'api-keys-file': text('path', 'file of API keys that callers need', { commonVariable: 'A2A_API_KEYS_FILE' }),
  'api-key-place': text('place', 'place of API keys: header:<name>, query:<name>, cookie:<name> or bearer', {
    commonVariable: 'A2A_API_KEY_PLACE',
  }),
  'basic-users-file': text('path', 'file of names and password hashes that callers need', {
    commonVariable: 'A2A_BASIC_USERS_FILE',
  }),
  'tls-cert': text('path', 'certificate of the server: serve https', { commonVariable: 'A2A_TLS_CERT' }),
  'tls-key': text('path', 'key of that certificate', { commonVariable: 'A2A_TLS_KEY' }),
  'tls-client-ca': text('path', 'authorities of client certificates that callers need', {
    commonVariable: 'A2A_TLS_CLIENT_CA',
  }),
  'client-cert-proxy': text(
    'address',
    'proxy that passes client certificates on in a header; needs --client-cert-format',
    {
      repeats: true,
      commonVariable: 'A2A_CLIENT_CERT_PROXIES',
    },
  ),
  'client-cert-format': text('name', 'form of that header: envoy, nginx or rfc9440', {
    commonVariable: 'A2A_CLIENT_CERT_FORMAT',
  }),
  'auth-require': text(
    'which',
    'credentials that a caller needs, of several kinds: any, all (of one user) or all-users (of different users)',
    {
      commonVariable: 'A2A_AUTH_REQUIRE',
    },
  ),
  'signing-key': text('path', 'key that signs: PEM, a JWK or a key set', { repeats: true }),
  jku: text('url', 'https URL of the public keys, which the signatures name'),
  expires: text('duration', 'lifetime of the key or password (default: no end)'),
  'oidc-issuer': text('url', 'take tokens of this OpenID Connect provider', { commonVariable: 'A2A_OIDC_ISSUER' }),
  'jwt-issuer': text('url', 'take JWTs of this issuer; needs --jwks-url', { commonVariable: 'A2A_JWT_ISSUER' }),
  'jwks-url': text('url', 'keys of that issuer', { commonVariable: 'A2A_JWKS_URL' }),
  'introspection-issuer': text('url', 'ask this authorization server about tokens', {
    commonVariable: 'A2A_INTROSPECTION_ISSUER',
  }),
  'introspection-client-id': text('id', 'client id of the agent at that server', {
    commonVariable: 'A2A_INTROSPECTION_CLIENT_ID',
  }),
  'introspection-client-secret': text('secret', 'secret of that client', {
    ...secret,
    commonVariable: 'A2A_INTROSPECTION_CLIENT_SECRET',
  }),
  'introspection-url': text('url', 'introspection endpoint (default: that in the metadata of that server)', {
    commonVariable: 'A2A_INTROSPECTION_URL',
  }),
  'token-url': text('url', 'token endpoint for the card, where callers get these tokens', {
    commonVariable: 'A2A_TOKEN_URL',
  }),
  'jwt-algorithm': text('name', 'allowed algorithm of JWTs, such as ES256 (default: all asymmetric ones)', {
    repeats: true,
    commonVariable: 'A2A_JWT_ALGORITHMS',
  }),
  'tenant-claim': text('name', 'claim with the tenants of a user', { commonVariable: 'A2A_TENANT_CLAIM' }),
  'jwt-audience': text('name', 'audience that tokens must have', {
    repeats: true,
    commonVariable: 'A2A_JWT_AUDIENCE',
  }),
  'required-scope': text('scope', 'scope that every token must have', {
    repeats: true,
    commonVariable: 'A2A_REQUIRED_SCOPES',
  }),
  'auth-allow-host': text('host', 'private host that may be called for keys', {
    repeats: true,
    commonVariable: 'A2A_AUTH_ALLOW_HOSTS',
  }),
  'auth-plain-http': onOff('allow issuers and keys without TLS', { commonVariable: 'A2A_AUTH_PLAIN_HTTP' }),
  'rate-limit': text('rate', 'requests of one address and of one user, such as 100/60s', {
    commonVariable: 'A2A_RATE_LIMIT',
  }),
  'rate-limit-address': text('rate', 'requests of one address, in place of --rate-limit; off for no limit', {
    commonVariable: 'A2A_RATE_LIMIT_ADDRESS',
  }),
  'rate-limit-user': text('rate', 'requests of one user, in place of --rate-limit; off for no limit', {
    commonVariable: 'A2A_RATE_LIMIT_USER',
  }),
  'audit-file': text('path', 'file that gets a record of each call, refusal and repair', {
    commonVariable: 'A2A_AUDIT_FILE',
  }),
  'secret-keys-file': text('path', 'file of keys that encrypt secrets in the storage, such as credentials of webhooks'),
  grpc: text('port', 'serve gRPC too, on this port; shared: on the port of HTTP'),
  capnweb: onOff("serve Cap'n Web too, at /capnweb below the agent"),
  listed: text('cards', 'with --grpc or --capnweb: cards that list it: public, extended (that one only), never'),
  database: text(
    'url',
    `storage of tasks: sqlite:./data/parley.db, ${SHARED_EXAMPLE} (default: DATABASE_URL, or memory:)`,
  ),
  watch: onOff('serve the module again after each change of its files; tasks are kept'),
  workers: text('n', 'number of processes behind one port; max: one per core; needs a database that processes share'),
  'metrics-port': text('port', 'with --workers: port of the metrics of the first worker; the others follow'),
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
