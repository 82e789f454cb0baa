/** The fault of signed or encrypted content, with the field that has it. */
export class UntrustedContentError extends Error {
  override readonly name = 'UntrustedContentError';
  readonly field: string;

  constructor(field: string, fault: string) {
    super(fault);
    this.field = field;
  }
}
