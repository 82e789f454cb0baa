/** The meaning of each exit code. */
export const EXIT_CODES = {
  0: 'the call succeeded; the state of the task says how the task went',
  1: 'the agent refused the call, or an error occurred',
  2: 'the command line is wrong',
  3: 'the agent cannot be reached, or has no card',
  4: 'credentials are missing or were refused',
  5: 'the time of `--timeout` passed',
  130: 'Ctrl-C',
} as const;

/** Errors of the tool itself, with their exit codes. The comments are rows of docs/errors.md. */
export const LOCAL_CODES = {
  /**
   * Arguments or flags are missing, unknown, or exclude each other. Or the database file is missing or in use, or the
   * target of a copy is not empty.
   * @remedy read `parley help <command>`; the hint says what to stop or to name.
   */
  A2ACLI_ERR_USAGE: 2,
  /**
   * No card was found for the agent.
   * @remedy check the address; `--debug` shows the requests.
   */
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  /**
   * The document is no card, `--validate` finds faults, or no trusted key has signed the card.
   * @remedy `parley card get --validate` lists the faults.
   */
  A2ACLI_ERR_CARD_INVALID: 1,
  /**
   * The host has no address, nothing listens there, or TLS failed.
   * @remedy check the address and the network; the message says why.
   */
  A2ACLI_ERR_UNREACHABLE: 3,
  /**
   * The agent asks for a credential, and none was given.
   * @remedy the hint names the flag or the command that gives it.
   */
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  /**
   * The credential was refused.
   * @remedy get a new one, or the missing right.
   */
  A2ACLI_ERR_AUTH_FAILED: 4,
  /**
   * `--timeout` ran out; the task goes on.
   * @remedy the hint is the command that waits again.
   */
  A2ACLI_ERR_TIMEOUT: 5,
  /**
   * The tool failed in an unexpected way.
   * @remedy `--debug` shows more.
   */
  A2ACLI_ERR_INTERNAL: 1,
} as const satisfies Readonly<Record<string, keyof typeof EXIT_CODES>>;
export type LocalCode = keyof typeof LOCAL_CODES;

/** Protocol errors that the tool detects from the card, before the call (Spec §3.3.4). */
export const FORESEEN_CODES = {
  PushNotificationNotSupportedError: 1,
  UnsupportedOperationError: 1,
} as const;
export type ForeseenCode = keyof typeof FORESEEN_CODES;

/** A failure of the tool itself, with a hint. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: LocalCode | ForeseenCode;
  readonly hint: string | undefined;

  constructor(
    code: LocalCode | ForeseenCode,
    message: string,
    options: ErrorOptions & { readonly hint?: string | undefined } = {},
  ) {
    super(message, options);
    this.code = code;
    this.hint = options.hint;
  }
}

/** Makes the error for wrong arguments. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError('A2ACLI_ERR_USAGE', message, { hint });
}
