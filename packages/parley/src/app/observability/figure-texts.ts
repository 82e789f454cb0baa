/** A part of a whole, such as `76.92%`. */
export function percent(part: number, whole: number): string {
  return `${(whole === 0 ? 0 : (part / whole) * 100).toFixed(2)}%`;
}
