/** A stored secret that cannot be decrypted. Local: its text holds no secret. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}
