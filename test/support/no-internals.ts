const INTERNALS: readonly (readonly [string, RegExp])[] = [
  ['a stack frame', /(^|[\s"\\n])at (async )?[\w.<>[\] ]*\(?[\w:/.\\-]+:\d+:\d+\)?/],
  ['a path of the machine', /(file:\/\/|node:internal|node_modules|\/(home|Users|usr|var|tmp|root|work|opt)\/)/],
  ['a source file', /\b[\w-]+\.[cm]?[jt]s(:\d+|\b)/],
  ['the name of a JavaScript error', /\b(Type|Syntax|Range|Reference|Eval|URI|Aggregate|Assertion)Error\b/],
  [
    'the text of a JavaScript error',
    /(is not (a function|iterable|defined|a constructor)|Cannot (read|set|convert|destructure)|Unexpected (token|end|identifier|non-whitespace)|in JSON at position|URI malformed|Maximum call stack|\[object )/,
  ],
  ['the text of a system or storage error', /\b(E[A-Z]{4,}:|ECONN|ENOENT|EACCES|SQLITE|ERR_[A-Z_]+)/],
  ['a value that was never there', /\b(undefined|NaN)\b/],
];

/** Fails if a text for a peer reveals internals: stacks, paths, texts of JavaScript errors. */
export function assertNoInternals(body: string): void {
  for (const [what, pattern] of INTERNALS) {
    const found = pattern.exec(body);
    if (found !== null)
      throw new Error(`the answer shows ${what}: ${JSON.stringify(found[0])} in ${body.slice(0, 400)}`);
  }
}
