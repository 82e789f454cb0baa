import { BINDING_FLAGS } from '../agent/bindings.js';
import { SHARED_EXAMPLE } from '../database/backends.js';
import { AGENT_COMMANDS } from './agent-commands.js';
import type { Command } from './command.js';
import { type FlagName, SERVER_FLAG_NAMES } from './flags.js';

/** Flags of every command. */
export const GLOBAL_FLAGS: readonly FlagName[] = ['output', 'verbose', 'debug', 'config', 'help', 'version'];

/** Flags of the commands on the data of a user. */
const OWNER_FLAGS: readonly FlagName[] = [
  ...(['owner', 'anonymous-owner', 'only-agent', 'only-tenant', 'database', 'file-store', 'audit-file'] as const),
];

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...AGENT_COMMANDS,
  {
    path: 'serve',
    summary: 'Serve an agent: a module, a program, an echo, or a proxy to another one',
    args: '[module]',
    flags: [
      'watch',
      'echo',
      'exec',
      'chunk',
      'proxy',
      'traffic-log',
      ...SERVER_FLAG_NAMES,
      'name',
      'description',
      'secret-keys-file',
      ...BINDING_FLAGS,
      'listed',
      'database',
      'workers',
      'metrics-port',
      'drain',
      'quiet',
    ],
    aliases: ['server'],
    example: 'parley serve agent.ts',
  },
  {
    path: 'demo-server',
    summary: 'Serve an agent to practise every command with',
    flags: ['host', 'port', 'quiet'],
    example: 'parley demo-server --port 0',
  },
  {
    path: 'push receive',
    summary: 'Receive push notifications on this machine and show them as they arrive',
    flags: ['host', 'port', 'token', 'auth-scheme', 'auth-credentials'],
    example: 'parley push receive --port 9000 --token secret',
  },
  {
    path: 'push dead list',
    summary: 'List the webhooks in a database whose deliveries were given up, with the reason',
    args: '[task] [webhook]',
    flags: ['database'],
    example: 'parley push dead list --database sqlite:./data/parley.db',
  },
  {
    path: 'push dead replay',
    summary: 'Deliver again to given-up webhooks: to all, to those of a task, or to one',
    args: '[task] [webhook]',
    flags: ['database', 'audit-file'],
    example: 'parley push dead replay 0199 --database sqlite:./data/parley.db',
  },
  {
    path: 'push dead purge',
    summary: 'Drop the pending events of given-up webhooks: of all, of those of a task, or of one',
    args: '[task] [webhook]',
    flags: ['database', 'audit-file'],
    example: 'parley push dead purge 0199 --database sqlite:./data/parley.db',
  },
  {
    path: 'push reseal',
    summary: 'Encrypt the stored credentials of webhooks with the first key, so that older keys can go',
    flags: ['database', 'secret-keys-file', 'dry-run', 'audit-file'],
    example: 'parley push reseal --secret-keys-file secrets.txt --database sqlite:./data/parley.db',
    notes: 'The exit code is 1 as long as an older key is needed, or if a key is missing.',
  },
  {
    path: 'keys create',
    summary: 'Make an API key for a caller of a server, and its hash for the server',
    args: '<name>',
    flags: ['api-keys-file', 'scope', 'expires'],
    example: 'parley keys create ada --api-keys-file keys.json --expires 90d',
  },
  {
    path: 'keys hash',
    summary: 'Make the hash of an API key that exists; the key comes from standard input or a prompt',
    args: '<name>',
    flags: ['api-keys-file', 'scope', 'expires'],
    example: 'parley keys hash ada --api-keys-file keys.json',
  },
  {
    path: 'passwords hash',
    summary: 'Make the hash of a password for HTTP Basic; the password comes from standard input or a prompt',
    args: '<name>',
    flags: ['basic-users-file', 'scope', 'expires'],
    example: 'parley passwords hash ada --basic-users-file users.json',
    notes: 'An earlier entry of the name in the file is replaced.',
  },
  {
    path: 'card sign',
    summary: 'Sign the card of a file and print it with its signatures',
    args: '<file|->',
    flags: ['signing-key', 'jku'],
    example: 'parley card sign card.json --signing-key card-key.pem',
    notes: 'The signatures replace those that the card has. Verify them with parley card get --card-key.',
  },
  {
    path: 'init',
    summary: 'Write a project with an agent that runs',
    args: '[folder]',
    flags: [],
    hasOwnFlags: true,
    example: 'parley init my-agent --agent tools --host express',
  },
  {
    path: 'cluster status',
    summary: 'Show the replicas on a database, their work, and what needs an operator',
    flags: ['database'],
    example: `parley cluster status --database ${SHARED_EXAMPLE}`,
    notes: 'The exit code is 1 if something needs an operator.',
  },
  {
    path: 'db status',
    summary: 'Show the contents of a database',
    flags: ['database'],
    example: 'parley db status --database sqlite:./data/parley.db',
  },
  {
    path: 'db migrate',
    summary: 'Migrate a database to the newest schema',
    flags: ['database', 'dry-run'],
    example: 'parley db migrate --database sqlite:./data/parley.db',
  },
  {
    path: 'db vacuum',
    summary: 'Return unused disk space of a database',
    flags: ['database'],
    example: 'parley db vacuum --database sqlite:./data/parley.db',
  },
  {
    path: 'db retention',
    summary: 'Delete tasks and event logs whose retention is over',
    flags: ['database', 'finished', 'event-log'],
    example: 'parley db retention --finished 7d --database sqlite:./data/parley.db',
  },
  {
    path: 'db copy',
    summary: 'Copy all tasks of a database into an empty one, while no server uses either',
    args: '<from> <to>',
    flags: ['resume'],
    example: `parley db copy sqlite:./data/parley.db ${SHARED_EXAMPLE}`,
  },
  {
    path: 'db export',
    summary: 'Export the data of a user into a folder: tasks, webhooks, idempotency keys and files',
    flags: [...OWNER_FLAGS, 'to', 'force'],
    example: "parley db export --owner 'apikey|ada' --to ./ada --database sqlite:./data/parley.db",
    notes: '--force replaces an earlier export. Secrets of webhooks are masked. See docs/user-data.md.',
  },
  {
    path: 'db erase',
    summary: 'Erase the data of a user: tasks, webhooks, idempotency keys and files',
    flags: [...OWNER_FLAGS, 'dry-run', 'yes'],
    example: "parley db erase --owner 'apikey|ada' --file-store ./data/files --dry-run",
    notes: 'Running turns are canceled first. An erasure that was interrupted goes on when it is repeated.',
  },
  {
    path: 'config show',
    summary: 'Show every setting with its source',
    flags: [],
    example: 'parley config show',
  },
  {
    path: 'config trust',
    summary: 'Trust a .env file with its current content; default: the nearest one',
    args: '[file]',
    flags: [],
    example: 'parley config trust',
  },
  {
    path: 'config untrust',
    summary: 'Remove the trust in a .env file',
    args: '[file]',
    flags: [],
    example: 'parley config untrust',
  },
  {
    path: 'config trusted',
    summary: 'List trusted .env files, and those that have changed since',
    flags: [],
    example: 'parley config trusted',
  },
  {
    path: 'error',
    summary: 'Explain an error by its code, name or number; without one, list them all',
    args: '[code]',
    flags: [],
    example: 'parley error TaskNotFoundError',
  },
  {
    path: 'completion',
    summary: 'Print the completion script of a shell: bash, zsh or fish',
    args: '<shell>',
    flags: [],
    example: 'source <(parley completion bash)',
  },
  {
    path: 'skill',
    summary: 'Print the skill that teaches an agent this tool',
    flags: [],
    example: 'parley skill > SKILL.md',
  },
  {
    path: 'help',
    summary: 'Show help for the tool or for one command',
    args: '[command]',
    flags: [],
    example: 'parley help send',
  },
  {
    path: 'version',
    summary: 'Show the version',
    flags: [],
    example: 'parley version',
  },
];
