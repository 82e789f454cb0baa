const LONG = Array.from({ length: 26 }, () => 'word').join(' ');
const SHORT = LONG.slice(0, 90);

/** Comments that break a rule, and a part of the problem that is reported. */
export const REFUSED_COMMENTS: readonly (readonly [text: string, problem: string])[] = [
  ['// What the caller sees.', 'begins with What'],
  ['/** Sends it. Where it fails, the caller waits. */', 'begins with Where'],
  ['/**\n * A task.\n * Whether it ended.\n */', 'begins with Whether'],
  ['const x = 1; // nobody waits', 'nobody'],
  ['const x = { a: 1 /* as somebody says */ };', 'somebody'],
  ['// half of each\n// by chance', 'by chance'],
  [`// ${LONG}.`, 'a sentence of 26 words'],
  [`/**\n * - ${LONG}\n */`, 'a sentence of 26 words'],
  [`/**\n * ${'long '.repeat(24)}text.\n */`, 'columns'],
  [`f(\`$\{x /* for whoever asks */}\`);`, 'whoever'],
  ['if (/\\/*/.test(x)) y(); // nobody', 'nobody'],
];

/** Comments that keep the rules, and code that only looks like a comment. */
export const ALLOWED_COMMENTS: readonly string[] = [
  "const url = 'http://nobody'; const glob = '/* somebody';",
  `const text = \`// nobody $\{x} /* nobody\`;`,
  'const pattern = /nobody\\/\\/ nobody/;',
  `// ${SHORT}.\n// ${SHORT}.`,
  '// The caller, i.e. Node.js 22.19 or v1.0, as `nobody` says.',
  '/** What is this? A question. */',
  `// ${'x'.repeat(200)}`,
  `const x = '${'long '.repeat(30)}';`,
  `// biome-ignore lint/a/b: ${SHORT}\n// ${SHORT}`,
];

/** Markdown that breaks a rule, and a part of the problem that is reported. */
export const REFUSED_MARKDOWN: readonly (readonly [text: string, problem: string])[] = [
  ['Whoever reads it.', 'Whoever'],
  ['# A title\n\nFirst. How it goes.', 'begins with How'],
  [`| a | ${LONG} |`, 'a sentence of 26 words'],
  [`- ${LONG}`, 'a sentence of 26 words'],
  ['word '.repeat(21), 'columns'],
  [`\`\`\`sh\n${'word '.repeat(30)}\n\`\`\``, 'columns'],
];
