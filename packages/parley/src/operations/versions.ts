import { VersionNotSupportedError } from '../errors/spec-errors.js';

const WITH_PATCH = /^(\d{1,5}\.\d{1,5})\.[\w.+-]*$/;

/** The version of a call that names none (Spec §3.6.2). */
export const VERSION_WHEN_ABSENT = '0.3';

/**
 * A protocol version as `Major.Minor`, because patch numbers do not count (Spec §3.6). Any other text stays as it is.
 */
export function majorMinor(version: string): string {
  return WITH_PATCH.exec(version)?.[1] ?? version;
}

/** True if the version is older than 1.0 and has the names and media types of that time. */
export function isLegacy(version: string): boolean {
  return version.startsWith('0.');
}

/**
 * Chooses the offered version for a call. A call that names no version has `whenAbsent` (Spec §3.6.2). If that is
 * before 1.0, the call has the newest offered version before 1.0: clients of that time send no version.
 * @throws VersionNotSupportedError naming the offered versions.
 */
export function chooseVersion<T>(
  asked: string | undefined,
  offered: ReadonlyMap<string, T>,
  whenAbsent: string = VERSION_WHEN_ABSENT,
): T {
  const named = asked?.trim();
  const asWritten = named || whenAbsent;
  const exact = offered.get(asWritten);
  if (exact !== undefined) return exact;
  // Some implementations give their build of 0.3 this number; the specification has no such version.
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

/** True if `version` is later than `other`; both are `Major.Minor`. */
export function isLater(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}
