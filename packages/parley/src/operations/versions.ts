import { VersionNotSupportedError } from '../errors/spec-errors.js';

const WITH_PATCH = /^(\d{1,5}\.\d{1,5})\.[\w.+-]*$/;

/** The version a call without one asks for (spec §3.6.2). */
export const VERSION_WHEN_ABSENT = '0.3';

/** A protocol version reduced to `Major.Minor`: patch numbers do not count (spec §3.6). Anything unreadable stays as it is. */
export function majorMinor(version: string): string {
  return WITH_PATCH.exec(version)?.[1] ?? version;
}

/** Whether the version is older than 1.0, with the names and media types of that time. */
export function isLegacy(version: string): boolean {
  return version.startsWith('0.');
}

/**
 * The offered version that a call asks for; an absent or empty wish means `whenAbsent` (spec §3.6.2), or where that is a version before
 * 1.0, the newest of those that is offered: their clients do not say which one they speak.
 * @throws VersionNotSupportedError telling what is offered.
 */
export function chooseVersion<T>(
  asked: string | undefined,
  offered: ReadonlyMap<string, T>,
  whenAbsent: string = VERSION_WHEN_ABSENT,
): T {
  const named = asked?.trim();
  const asWritten = named || whenAbsent;
  // Some implementations call their build of 0.3 so; the specification has no such version.
  const wish = majorMinor(asWritten) === '0.4' ? '0.3' : asWritten;
  const chosen =
    offered.get(wish) ?? offered.get(majorMinor(wish)) ?? (named ? undefined : newestLegacy(wish, offered));
  if (chosen === undefined) {
    throw new VersionNotSupportedError(wish.slice(0, 32), [...offered.keys()], { assumed: !named });
  }
  return chosen;
}

function newestLegacy<T>(wish: string, offered: ReadonlyMap<string, T>): T | undefined {
  if (!isLegacy(wish)) return undefined;
  const [newest] = [...offered.keys()].filter(isLegacy).sort((a, b) => (isLater(a, b) ? -1 : 1));
  return newest === undefined ? undefined : offered.get(newest);
}

/** Whether `version` is later than `other`; both `Major.Minor`. */
export function isLater(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}
