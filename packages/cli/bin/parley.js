#!/usr/bin/env node
// Code outside of the condition has only syntax that every Node.js can parse.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`parley needs Node.js 22.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  const { enableCompileCache } = await import('node:module');
  const { isAbsolute, join } = await import('node:path');
  const { XDG_CACHE_HOME: named = '', HOME = '', USERPROFILE = '' } = process.env;
  const folder = [named, join(HOME, '.cache'), join(USERPROFILE, '.cache')].find(isAbsolute);
  // In a folder of the user: compiled code that another user of the machine wrote would run as this one.
  if (folder !== undefined) enableCompileCache(join(folder, 'a2a-cli'));
  // Loaded after the cache is on, so that the cache serves it.
  const { main } = await import('../bundle/run.js');
  await main(process.argv.slice(2));
}
