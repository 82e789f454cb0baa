import { FLAGS, type FlagName } from '../command-line/flags.js';

/**
 * The sources that may set a flag.
 *
 * - `command line`: no variable and no file.
 * - `anywhere`: also an untrusted `.env` file.
 * - `recipient`: decides the recipient of credentials. An untrusted file sets it only while no credential comes from
 *   elsewhere.
 * - `trusted`: decides about files, programs or trust. An untrusted file never sets it.
 */
export type SettingOrigin = 'command line' | 'anywhere' | 'recipient' | 'trusted';

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
  template: 'trusted',
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
  host: 'trusted',
  port: 'anywhere',
  name: 'anywhere',
  description: 'anywhere',
  'public-url': 'trusted',
  'allow-anonymous': 'trusted',
  'api-keys-file': 'trusted',
  'basic-users-file': 'trusted',
  'tls-cert': 'trusted',
  'tls-key': 'trusted',
  'tls-client-ca': 'trusted',
  'signing-key': 'trusted',
  jku: 'trusted',
  expires: 'command line',
  'oidc-issuer': 'trusted',
  'jwt-issuer': 'trusted',
  'jwks-url': 'trusted',
  'jwt-audience': 'trusted',
  'required-scope': 'trusted',
  'auth-allow-host': 'trusted',
  'rate-limit': 'trusted',
  'audit-file': 'trusted',
  'secret-keys-file': 'trusted',
  grpc: 'trusted',
  capnweb: 'trusted',
  database: 'trusted',
  workers: 'anywhere',
  'metrics-port': 'trusted',
  drain: 'anywhere',
  quiet: 'anywhere',
  finished: 'trusted',
  'event-log': 'trusted',
  resume: 'command line',
  'dry-run': 'anywhere',
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
