const OFFSET_FORM = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d{1,9})?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * An RFC 3339 timestamp with any offset as the same instant in UTC with `Z`; its fraction, up to nanoseconds, is kept as it is.
 * Anything else is given back unchanged. Spec §5.6.1 forbids other offsets, but peers of 0.3 send them.
 */
export function toUtc(text: string): string {
  const match = text.length > 35 ? null : OFFSET_FORM.exec(text);
  if (match === null) return text;
  const [, date, time, fraction = '', sign, hours, minutes] = match;
  const instant = Date.parse(`${date}T${time}Z`);
  // The parser accepts 30 February and rolls it over, and hour 24.
  if (Number.isNaN(instant) || !new Date(instant).toISOString().startsWith(`${date}T${time}`)) return text;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  const utc = new Date(sign === '-' ? instant + offset : instant - offset).toISOString();
  return `${utc.slice(0, -'.000Z'.length)}${fraction}Z`;
}
