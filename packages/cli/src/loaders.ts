import type { Invocation } from './command-line/invocation.js';

/** Runs a command and resolves to its exit code. */
export type RunCommand = (invocation: Invocation) => Promise<number>;

/** Loads the code of each command on demand: unused commands cost no time. */
export const LOADERS: Readonly<Record<string, () => Promise<{ readonly run: RunCommand }>>> = {
  send: () => import('./commands/send.js'),
  chat: () => import('./commands/chat.js'),
  'card get': () => import('./commands/card-get.js'),
  'task get': () => import('./commands/task-get.js'),
  'task list': () => import('./commands/task-list.js'),
  'task cancel': () => import('./commands/task-cancel.js'),
  'task subscribe': () => import('./commands/task-subscribe.js'),
  'task download': () => import('./commands/task-download.js'),
  'task push-config create': () => import('./commands/push-config.js').then(({ create }) => ({ run: create })),
  'task push-config get': () => import('./commands/push-config.js').then(({ get }) => ({ run: get })),
  'task push-config list': () => import('./commands/push-config.js').then(({ list }) => ({ run: list })),
  'task push-config delete': () => import('./commands/push-config.js').then(({ remove }) => ({ run: remove })),
  'push receive': () => import('./commands/push-receive.js'),
  'push dead list': () => import('./commands/push-dead.js').then(({ list }) => ({ run: list })),
  'push dead replay': () => import('./commands/push-dead.js').then(({ replay }) => ({ run: replay })),
  'push dead purge': () => import('./commands/push-dead.js').then(({ purge }) => ({ run: purge })),
  'auth login': () => import('./commands/auth-login.js'),
  conformance: () => import('./commands/conformance.js'),
  serve: () => import('./commands/serve.js'),
  'demo-server': () => import('./commands/demo-server.js'),
  'keys create': () => import('./commands/keys-create.js'),
  init: () => import('./commands/init.js'),
  'db status': () => import('./commands/db.js').then(({ status }) => ({ run: status })),
  'db migrate': () => import('./commands/db.js').then(({ migrate }) => ({ run: migrate })),
  'db vacuum': () => import('./commands/db.js').then(({ vacuum }) => ({ run: vacuum })),
  'db retention': () => import('./commands/db.js').then(({ retention }) => ({ run: retention })),
  'db copy': () => import('./commands/db-copy.js'),
  'config show': () => import('./commands/config-show.js'),
  'config trust': () => import('./commands/config-trust.js').then(({ trust }) => ({ run: trust })),
  'config untrust': () => import('./commands/config-trust.js').then(({ untrust }) => ({ run: untrust })),
  'config trusted': () => import('./commands/config-trust.js').then(({ list }) => ({ run: list })),
  error: () => import('./commands/error.js'),
  completion: () => import('./commands/completion.js'),
  skill: () => import('./commands/skill.js'),
  help: () => import('./commands/help.js'),
  version: () => import('./commands/version.js'),
};
