/**
 * The number of a row of `idempotency`: its class, then its expiry in ms, then a count. So rows are stored in the order
 * in which they are deleted, and one index is enough. JavaScript cannot hold such a number.
 */
export function keyNumber(lasting: string | number, expires: string, count: string | number): string {
  return `((${lasting} << ${EXPIRY_BITS} | min(${expires}, ${LAST_EXPIRY})) << ${COUNT_BITS} | ${count})`;
}

const EXPIRY_BITS = 44;
/** Files of older versions may have keys that end later. */
const LAST_EXPIRY = 2 ** EXPIRY_BITS - 1;
const COUNT_BITS = 18;

/** Counts of keys begin again after this one. More than there are keys. */
export const LAST_COUNT = 2 ** COUNT_BITS - 1;

/** The count in the number of a row. */
export const COUNT_OF_KEY = `(pk & ${LAST_COUNT})`;

/** Condition for the rows of a class that expire from a time on, and before another one. */
export function expiryIn(lasting: 0 | 1, { from = '0', before }: { readonly from?: string; readonly before?: string }) {
  const least = `i.pk >= ${keyNumber(lasting, from, 0)}`;
  if (before === undefined && lasting === 1) return least;
  return `${least} AND i.pk < ${before === undefined ? keyNumber(1, '0', 0) : keyNumber(lasting, before, 0)}`;
}
