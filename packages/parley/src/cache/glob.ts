/** One place of a pattern: any run of characters, or one character. */
type Token = '*' | ((character: string) => boolean);

/**
 * Whether a whole key matches a pattern as Redis reads them: `*` is any run, `?` one character, `[ab]`, `[a-z]` and `[^a]` one of a
 * set, `\` takes what follows as it is. Its time grows with the product of both lengths at most, whatever the pattern.
 */
export function globMatcher(pattern: string): (key: string) => boolean {
  const tokens = tokensOf(pattern);
  return (key) => matches(tokens, [...key]);
}

/** A star takes as little as it can at first, and one more each time that what follows it does not fit. */
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

/** The set that begins at `start`, and where its closing bracket is; one that is never closed goes to the end. */
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
