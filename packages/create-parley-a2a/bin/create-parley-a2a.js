#!/usr/bin/env node
// Outside of the condition stands only syntax that every Node.js understands.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`create-parley-a2a needs Node.js 22.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  const { readFileSync } = await import('node:fs');
  const { run, UsageError } = await import('../dist/index.js');
  const { version, engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const { stdin: input, stdout: output } = process;
  const terminal = input.isTTY && output.isTTY ? { input, output } : undefined;
  const write = (text) => output.write(text);
  try {
    const program = 'npm create parley-a2a@latest';
    await run(process.argv.slice(2), { program, version, nodeRange: engines.node, write, terminal });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
