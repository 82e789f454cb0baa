/** A value of the wire that is an object, before anybody has looked at its members. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether a value is an object with members. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SNAKE_CASE = new Map<string, string>();

/** A member by its name, the same name in snake_case, or another name it has had; `null` counts as absent. */
export function member(value: Members, name: string, alias?: string): unknown {
  const found = value[name] ?? value[snakeCase(name)] ?? undefined;
  return found === undefined && alias !== undefined ? member(value, alias) : found;
}

/** The object that `convert` makes of an object; anything else stays as it is, for the validator to refuse. */
export function converted(value: unknown, convert: (value: Members) => unknown): unknown {
  return isObject(value) ? convert(value) : value;
}

/** The list that `convert` makes of the items of a list; anything else stays as it is. */
export function convertedList(value: unknown, convert: (value: Members) => unknown): unknown {
  return Array.isArray(value) ? value.map((item) => converted(item, convert)) : value;
}

/** The same object without the members that are `undefined`. */
export function present<T extends object>(value: T): T {
  const members = value as Record<string, unknown>;
  for (const name in members) if (members[name] === undefined) delete members[name];
  return value;
}

function snakeCase(name: string): string {
  let snake = SNAKE_CASE.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    SNAKE_CASE.set(name, snake);
  }
  return snake;
}
