/** A requirement of the specification of command line clients. */
export interface Requirement {
  readonly tier: 1 | 2 | 3;
  readonly text: string;
  /** The status of a requirement that does not depend on tests: not or partly met, not measured, or not applicable. */
  readonly status?: 'partial' | 'fail' | 'not_measured' | 'na';
  readonly note?: string;
}

const one = (text: string, more: Partial<Requirement> = {}): Requirement => ({ tier: 1, text, ...more });
const two = (text: string, more: Partial<Requirement> = {}): Requirement => ({ tier: 2, text, ...more });
const three = (text: string, more: Partial<Requirement> = {}): Requirement => ({ tier: 3, text, ...more });

/** All requirements by id, without the prefix `A2ACLI_`. */
export const REQUIREMENTS: Readonly<Record<string, Requirement>> = {
  CARD_GET_001: one('Resolve and parse a card from a host, a URL, a file URL or a path; choose the transport from it'),
  SEND_001: one('Send a message that starts an interaction'),
  SEND_002: one('Wait by default; --async returns the ids at once'),
  SEND_003: one('--stream follows the stream where there is one, and never hangs where not'),
  SEND_004: one('Render artifacts; no part is dropped'),
  SEND_005: one('--media-type belongs to the part before it'),
  SEND_006: one('Part flags repeat and keep their order; --data - reads standard input'),
  TASK_GET_001: one('task get: state, artifacts, history'),
  TASK_CANCEL_001: one('task cancel: idempotent, reports the state'),
  INTERACT_001: one('--context-id continues an interaction'),
  INTERACT_002: one('--task-id; a refused id fails and starts nothing'),
  INTERACT_003: one('Never invent an id that the server assigns'),
  INTERACT_004: one('Report ids and state with the command to resume'),
  INTERACT_005: one('Stateless'),
  TASK_POLL_001: one('task get once, and --wait'),
  TASK_POLL_002: one('--poll-interval, --timeout, bounded backoff, interruptible'),
  TASK_POLL_003: one('Stop at interrupted states; keep polling at an unspecified one'),
  TASK_POLL_004: one('A wait falls back to polling when the stream fails'),
  OUT_001: one('Ids and state in every mode; payload on stdout, diagnostics on stderr'),
  OUT_002: one('-o json: exactly one document, the terminal object'),
  OUT_003: one('-o json --stream: one object a line, the terminal one last'),
  OUT_004: one('Errors machine-readable and alike on every transport'),
  OUT_005: one('The floor of text output'),
  OUT_006: one('--async still gives the ids'),
  EXIT_001: one('Exit codes'),
  EXIT_002: one('Exit 0 for a turn that was conducted'),
  AUTH_001: one('--bearer, --api-key, placed where the card says'),
  AUTH_002: one('A variable for every credential flag; the risk of flags is documented'),
  AUTH_003: one('A warning when a credential goes out with --insecure'),
  AUTH_004: one('Credentials redacted from all diagnostics'),
  TX_001: one('Choose the transport from the card'),
  TX_002: one('First supported interface; --transport repeats'),
  TX_003: one('The tenant of the interface exactly as declared'),
  VER_001: one('A2A-Version on every request; never below 1.0 by itself'),
  DEFAULT_001: one('The six defaults, each overridable'),
  CONFIG_001: one('Configuration at the conventional path, readable, no session state'),
  CLI_001: one('help, --help, --version'),
  SKILL_001: one('Exactly one skill, short, deferring to the help'),
  SKILL_002: one('The skill restates no requirement'),
  CARD_GET_002: two('card get --validate'),
  TASK_LIST_001: two('task list: pages, filters'),
  TASK_SUBSCRIBE_001: two('task subscribe'),
  TASK_SUBSCRIBE_002: two('Resume after a disconnect; the first event carries the task'),
  AUTH_005: two('auth login by device code'),
  AUTH_006: two('auth login by client credentials'),
  AUTH_007: two('Tokens stored safely and attached by themselves'),
  TX_004: two('At least two transports'),
  VER_003: two('A capability is checked on the card before the call'),
  CONFIG_002: two('Precedence; config show names sources'),
  DOWNLOAD_001: two('task download'),
  OUT_007: two('--debug shows the raw messages'),
  CONFORM_001: two('conformance', {
    note: "what can be seen from outside, and with --tck the scenarios of the kit, driven by the tool itself; the kit's own program is not run",
  }),
  CLI_002: two('completion <shell>'),
  PUSH_001: two('task push-config create, get, list, delete'),
  CARD_GET_003: three('The extended card, by a scheme that the public card advertises'),
  CARD_GET_004: three('Verify card signatures; report verified, unverifiable or absent'),
  CARD_GET_005: three('A catalog wherever a card is taken'),
  PUSH_002: three('A local webhook receiver'),
  CHAT_001: three('chat carries context and task'),
  TX_005: three('gRPC'),
  AUTH_008: three('No credential for a card endpoint that declared no scheme for it'),
  AUTH_009: three('Mutual TLS'),
  AUTH_010: three('OpenID Connect'),
  AUTH_011: three('Resolve an in-task AUTH_REQUIRED'),
  DEMO_SERVER_001: three('demo-server'),
  VER_002: three('Declare the extensions that the server requires'),
};

/** The defaults of DEFAULT_001, and the flags that override them. */
export const DEFAULTS: Readonly<Record<string, string>> = {
  transport_server_preference_order: '--transport',
  task_completion_wait_by_default: '--async',
  output_human_readable_text: '--output, --stream',
  detail_level_concise: '--verbose',
  protocol_version_highest_mutual: '--a2a-version',
  transport_security_tls_on: '--insecure',
};
