import { OptionsError } from '../../packages/parley/src/errors/options-error.js';

/** The refusal of the options. Any other outcome is none. */
export async function problemOf(
  make: (...args: never[]) => unknown,
  args: readonly unknown[],
): Promise<string | undefined> {
  try {
    await make(...(args as never[]));
    return undefined;
  } catch (error) {
    return error instanceof OptionsError ? error.message : undefined;
  }
}

/** Objects whose names are free: facts, keys (RFC 7517), paths and names of schemes. */
const FREE =
  /(?:^|\.)(?:metadata|card|agents|scopes|securitySchemes|schemes|store|logger)$|keys\.\d+$|securitySchemes\.\w+\./;

/** The paths of all members of plain objects, except for free names. */
export function placesIn(value: unknown, path: readonly string[] = []): string[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => placesIn(item, [...path, String(at)]));
  if (!isPlain(value) || FREE.test(path.join('.'))) {
    // The members of free names are closed again.
    return isPlain(value) && /(?:^|\.)(?:agents|schemes)$/.test(path.join('.'))
      ? Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]))
      : [];
  }
  return Object.entries(value).flatMap(([name, member]) => {
    const inside = [...path, name];
    return [inside.join('.'), ...placesIn(member, inside)];
  });
}

/** Returns a copy of the arguments with an additional member whose name is a misspelling of the path. */
export function misspelt(value: unknown, [name = '', ...rest]: readonly string[]): never[] {
  if (rest.length === 0)
    return { ...(value as object), [`${name}x`]: (value as Record<string, unknown>)[name] } as never;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...(value as object) };
  const member = (value as Record<string, unknown>)[name];
  (copy as Record<string, unknown>)[name] = misspelt(member, rest);
  return copy as never;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
