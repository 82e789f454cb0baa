/** A row was set aside: the transaction is to begin anew without it. Never leaves the writer. */
export class DamagedRowError extends Error {
  override readonly name = 'DamagedRowError';
}
