import { AGENT_COMMANDS } from './agent-commands.js';
import type { Command } from './command.js';
import type { FlagName } from './flags.js';

/** Flags that every command takes. */
export const GLOBAL_FLAGS: readonly FlagName[] = ['output', 'verbose', 'debug', 'config', 'help', 'version'];

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...AGENT_COMMANDS,
  {
    path: 'serve',
    summary: 'Serve an agent: a module, a program, an echo, or a proxy to another one',
    args: '[module]',
    flags: [
      'echo',
      'exec',
      'chunk',
      'proxy',
      'traffic-log',
      'host',
      'port',
      'name',
      'description',
      'public-url',
      'allow-anonymous',
      'oidc-issuer',
      'jwt-issuer',
      'jwks-url',
      'jwt-audience',
      'required-scope',
      'auth-allow-host',
      'database',
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
    path: 'init',
    summary: 'Write a project with an agent that runs',
    args: '[folder]',
    flags: ['name', 'force'],
    example: 'parley init my-agent',
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
