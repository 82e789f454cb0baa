const FORM = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?Z$/;

/** True if a text is an existing instant in UTC, `YYYY-MM-DDTHH:mm:ss[.fraction]Z` (Spec §5.6.1). */
export function isTimestamp(text: string): boolean {
  // The pattern is anchored and bounded, so only the length costs time.
  if (text.length < 20 || text.length > 30) return false;
  const match = FORM.exec(text);
  if (match === null) return false;
  return (
    isDate({ year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) }) &&
    Number(match[4]) < 24 &&
    Number(match[5]) < 60 &&
    Number(match[6]) < 60
  );
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate({ year, month, day }: { year: number; month: number; day: number }): boolean {
  const days = month === 2 && isLeap(year) ? 29 : (DAYS[month - 1] ?? 0);
  return year > 0 && day > 0 && day <= days;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
