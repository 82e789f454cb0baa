/** One element of a pattern: any run of characters, or one character. */
type Token = '*' | ((character: string) => boolean);

/**
 * Compiles a pattern of Redis for whole keys. `*` is any run, `?` one character, `[ab]`, `[a-z]` and `[^a]` one of a
 * set. `\` escapes the next character. The time is at most proportional to the product of both lengths.
 */
export function globMatcher(pattern: string): (key: string) => boolean {
  const tokens = tokensOf(pattern);
  return (key) => matches(tokens, [...key]);
}

/** A star matches as little as possible, and one character more each time the rest does not match. */
function matches(tokens: readonly Token[], key: readonly string[]): boolean {
  let [at, token] = [0, 0];
  let [star, taken] = [-1, 0];
  while (at < key.length) {
    const wanted = tokens[token];
    if (wanted === '*') {
      [star, taken] = [token++, at];
    } else if (wanted?.(key[at] as string)) {
      at++;
      token++;
    } else {
      if (star < 0) return false;
      at = ++taken;
      token = star + 1;
    }
  }
  return tokens.slice(token).every((rest) => rest === '*');
}

function tokensOf(pattern: string): readonly Token[] {
  const characters = [...pattern];
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    if (character === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*');
    } else if (character === '?') {
      tokens.push(() => true);
    } else if (character === '[') {
      const set = setAt(characters, at + 1);
      tokens.push(set.has);
      at = set.end;
    } else {
      if (character === '\\' && at + 1 < characters.length) at++;
      const literal = characters[at] as string;
      tokens.push((other) => other === literal);
    }
  }
  return tokens;
}

/** The set that begins at `start`, and the place of its closing bracket. An unclosed set goes to the end. */
function setAt(characters: readonly string[], start: number): { has: (character: string) => boolean; end: number } {
  const negated = characters[start] === '^';
  const ranges: (readonly [string, string])[] = [];
  let at = negated ? start + 1 : start;
  for (; at < characters.length && characters[at] !== ']'; at++) {
    if (characters[at] === '\\' && at + 1 < characters.length) at++;
    const from = characters[at] as string;
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length;
    const to = isRange ? (characters[at + 2] as string) : from;
    ranges.push(from <= to ? [from, to] : [to, from]);
    if (isRange) at += 2;
  }
  const inside = (character: string) => ranges.some(([from, to]) => from <= character && character <= to);
  return { has: negated ? (character) => !inside(character) : inside, end: at };
}
