import { BINDING_FLAGS, type BindingFlag } from '../agent/bindings.js';
import { FLAGS, type FlagName, SERVER_FLAG_NAMES, type ServerFlag } from '../command-line/flags.js';

/**
 * The sources that may set a flag.
 *
 * - `command line`: no variable and no file.
 * - `anywhere`: also an untrusted `.env` file.
 * - `recipient`: decides the recipient of credentials. An untrusted file sets it only while no credential comes from
 *   elsewhere.
 * - `trusted`: decides about files, programs or trust. An untrusted file never sets it.
 */
type SettingOrigin = 'command line' | 'anywhere' | 'recipient' | 'trusted';

/** The sources that may set each flag. */
export const SETTING_ORIGINS: Readonly<Record<FlagName, SettingOrigin>> = {
  'agent-card': 'recipient',
  endpoint: 'recipient',
  transport: 'anywhere',
  'a2a-version': 'anywhere',
  tenant: 'recipient',
  bearer: 'anywhere',
  'api-key': 'anywhere',
  auth: 'anywhere',
  'client-cert': 'trusted',
  'client-key': 'trusted',
  'ca-cert': 'trusted',
  'card-key': 'trusted',
  'card-key-origin': 'trusted',
  'svc-param': 'recipient',
  extension: 'recipient',
  insecure: 'trusted',
  config: 'command line',
  output: 'anywhere',
  verbose: 'anywhere',
  'trace-url': 'trusted',
  debug: 'anywhere',
  help: 'command line',
  version: 'command line',

  // The parts of a message follow the order of the command line.
  text: 'command line',
  file: 'command line',
  data: 'command line',
  'media-type': 'command line',
  'request-payload': 'trusted',
  stream: 'command line',
  async: 'anywhere',
  wait: 'anywhere',
  'context-id': 'anywhere',
  'task-id': 'anywhere',
  metadata: 'anywhere',
  'await-auth': 'anywhere',
  'poll-interval': 'anywhere',
  timeout: 'anywhere',
  history: 'anywhere',
  'save-fileparts': 'trusted',

  agent: 'command line',
  http: 'command line',
  'no-open': 'anywhere',

  validate: 'anywhere',
  extended: 'anywhere',
  tck: 'anywhere',
  status: 'anywhere',
  since: 'anywhere',
  'page-size': 'anywhere',
  'page-token': 'anywhere',
  'with-artifacts': 'anywhere',
  dir: 'trusted',
  'artifact-id': 'anywhere',
  'max-bytes': 'trusted',
  'file-origin': 'trusted',
  force: 'trusted',
  url: 'trusted',
  id: 'anywhere',
  token: 'anywhere',
  'auth-scheme': 'anywhere',
  'auth-credentials': 'anywhere',

  'client-id': 'recipient',
  'client-secret': 'anywhere',
  issuer: 'recipient',
  scope: 'recipient',
  'step-up': 'trusted',
  scheme: 'recipient',

  echo: 'anywhere',
  exec: 'trusted',
  chunk: 'anywhere',
  proxy: 'trusted',
  'traffic-log': 'trusted',
  ...(Object.fromEntries([...SERVER_FLAG_NAMES, ...BINDING_FLAGS].map((name) => [name, 'trusted'])) as Record<
    ServerFlag | BindingFlag,
    SettingOrigin
  >),
  port: 'anywhere',
  name: 'anywhere',
  description: 'anywhere',
  'signing-key': 'trusted',
  jku: 'trusted',
  expires: 'command line',
  'secret-keys-file': 'trusted',
  listed: 'trusted',
  database: 'trusted',
  watch: 'command line',
  workers: 'anywhere',
  'metrics-port': 'trusted',
  drain: 'anywhere',
  quiet: 'anywhere',
  finished: 'trusted',
  'event-log': 'trusted',
  resume: 'command line',
  'dry-run': 'anywhere',
  owner: 'command line',
  'anonymous-owner': 'command line',
  'only-agent': 'command line',
  'only-tenant': 'command line',
  'file-store': 'trusted',
  to: 'command line',
  yes: 'command line',
};

/** Flags whose values are credentials, or lead to them. */
export const CREDENTIAL_FLAGS = [
  'bearer',
  'api-key',
  'auth',
  'client-cert',
  'client-secret',
  'token',
  'auth-credentials',
] as const satisfies readonly FlagName[];

/** Flags that a variable or a file can set, in the order of the table of flags. */
export const CONFIGURABLE_FLAGS = (Object.keys(FLAGS) as FlagName[]).filter(
  (name) => SETTING_ORIGINS[name] !== 'command line',
);
