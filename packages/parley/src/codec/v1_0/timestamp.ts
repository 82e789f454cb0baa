const OFFSET_FORM = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d{1,9})?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Converts an RFC 3339 timestamp with any offset to UTC with `Z`, and keeps its fraction of up to nanoseconds. Any
 * other text is returned unchanged. Spec §5.6.1 forbids other offsets, but peers of 0.3 send them.
 */
export function toUtc(text: string): string {
  const match = text.length > 35 ? null : OFFSET_FORM.exec(text);
  if (match === null) return text;
  const [, date, time, fraction = '', sign, hours, minutes] = match;
  const instant = Date.parse(`${date}T${time}Z`);
  // The parser accepts hour 24, and takes 30 February for a day in March.
  if (Number.isNaN(instant) || !new Date(instant).toISOString().startsWith(`${date}T${time}`)) return text;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  const utc = new Date(sign === '-' ? instant + offset : instant - offset).toISOString();
  return `${utc.slice(0, -'.000Z'.length)}${fraction}Z`;
}
