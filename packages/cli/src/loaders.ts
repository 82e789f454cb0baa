import type { Invocation } from './command-line/invocation.js';

/** What runs a command; resolves to its exit code. */
export type RunCommand = (invocation: Invocation) => Promise<number>;

/** Loads what runs each command: nobody pays for one that is not used. */
export const LOADERS: Readonly<Record<string, () => Promise<{ readonly run: RunCommand }>>> = {
  serve: () => import('./commands/serve.js'),
  'demo-server': () => import('./commands/demo-server.js'),
  init: () => import('./commands/init.js'),
  'db status': () => import('./commands/db.js').then(({ status }) => ({ run: status })),
  'db migrate': () => import('./commands/db.js').then(({ migrate }) => ({ run: migrate })),
  'db vacuum': () => import('./commands/db.js').then(({ vacuum }) => ({ run: vacuum })),
  'db retention': () => import('./commands/db.js').then(({ retention }) => ({ run: retention })),
  'config show': () => import('./commands/config-show.js'),
  completion: () => import('./commands/completion.js'),
  skill: () => import('./commands/skill.js'),
  help: () => import('./commands/help.js'),
  version: () => import('./commands/version.js'),
};
