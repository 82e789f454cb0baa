/** Errors of the tool itself, with their exit codes. */
export const LOCAL_CODES = {
  A2ACLI_ERR_USAGE: 2,
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  A2ACLI_ERR_CARD_INVALID: 1,
  A2ACLI_ERR_UNREACHABLE: 3,
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  A2ACLI_ERR_AUTH_FAILED: 4,
  A2ACLI_ERR_TIMEOUT: 5,
  A2ACLI_ERR_INTERNAL: 1,
} as const;
export type LocalCode = keyof typeof LOCAL_CODES;

/** Errors of the protocol that the tool finds in the card, before the call (Spec §3.3.4). */
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
