import type { AgentOptions } from 'parley-a2a/node';
import { BINDING_FLAGS, chosenBindings } from '../agent/bindings.js';
import {
  type FlagName,
  SERVED_VARIABLES,
  SERVER_FLAG_NAMES,
  settingName,
  variableTexts,
} from '../command-line/flags.js';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import type { ModuleAgent } from '../serve/module-agent.js';

const SOURCES: readonly FlagName[] = ['echo', 'exec', 'proxy'];
const OF_PROXIES: readonly FlagName[] = ['host', 'port', 'public-url', 'allow-anonymous'];
/** Flags for served agents. A proxy forwards all calls, so they would have no effect. */
const OF_AGENTS: readonly FlagName[] = [
  ...SERVER_FLAG_NAMES.filter((name) => !OF_PROXIES.includes(name)),
  ...BINDING_FLAGS,
  ...(['secret-keys-file', 'listed', 'workers'] as const),
];

/** Serves an agent until a signal stops it. */
export async function run(invocation: Invocation): Promise<number> {
  const { args, settings } = invocation;
  const chosen = chosenSources(invocation);
  if (chosen.length + args.length !== 1)
    throw usageError('serve takes one of: a module, --echo, --exec <command>, --proxy <url>', 'parley help serve');
  for (const [name, of] of [
    ['chunk', 'exec'],
    ['traffic-log', 'proxy'],
  ] as const)
    if (settings.findSetting(name)?.source === 'flag' && chosen[0] !== of)
      throw usageError(`--${name} goes with --${of}`);
  if (settings.isOn('watch')) {
    const [path] = args;
    if (path === undefined) throw usageError('--watch goes with a module');
    if (settings.text('workers') !== undefined) throw usageError('--watch and --workers exclude each other');
    const { serveWatched } = await import('../serve/serve-watched.js');
    return serveWatched(invocation, path);
  }
  const target = chosen[0] === 'proxy' ? settings.text('proxy') : undefined;
  if (settings.findSetting('metrics-port')?.source === 'flag' && settings.text('workers') === undefined)
    throw usageError('--metrics-port goes with --workers');
  if (settings.findSetting('listed')?.source === 'flag' && chosenBindings(settings).length === 0)
    throw usageError(`--listed goes with ${BINDING_FLAGS.map((name) => `--${name}`).join(' and ')}`);
  if (target !== undefined) {
    const useless = OF_AGENTS.find((name) => settings.findSetting(name) !== undefined);
    if (useless !== undefined) {
      const source = settings.findSetting(useless)?.source ?? 'flag';
      const origin = source === 'flag' ? '' : ` (set by: ${source})`;
      throw usageError(`--${useless}${origin} does not go with --proxy, which passes all calls on`);
    }
    const variable = SERVED_VARIABLES.find((name) => variableTexts(name).length > 0);
    if (variable !== undefined)
      throw usageError(`${settingName(variable)} does not go with --proxy, which passes all calls on`);
    const { serveProxy } = await import('../serve/serve-proxy.js');
    return serveProxy(invocation, target);
  }
  if (settings.text('workers') !== undefined) {
    const { isWorker } = await import('../serve/worker.js');
    if (!isWorker()) return (await import('../serve/serve-workers.js')).serveWorkers(invocation);
  }
  const { serveAgents } = await import('../serve/serve-agents.js');
  return serveAgents(invocation, await source(invocation, chosen[0]));
}

/** Returns the flags that name the agents to serve. Flags of the command line win over variables and files. */
function chosenSources({ args, settings }: Invocation): readonly FlagName[] {
  const set = SOURCES.filter((name) => !['false', '0', undefined].includes(settings.findSetting(name)?.values.at(-1)));
  const flags = set.filter((name) => settings.findSetting(name)?.source === 'flag');
  return flags.length + args.length > 0 ? flags : set;
}

async function source({ args, settings, output }: Invocation, chosen: FlagName | undefined): Promise<ModuleAgent> {
  const [path] = args;
  if (path !== undefined) {
    const { loadModuleAgent } = await import('../serve/module-agent.js');
    return loadModuleAgent(path);
  }
  const command = chosen === 'exec' ? settings.text('exec') : undefined;
  if (command === undefined) return { agent: echoAgent };
  const { execAgent } = await import('../serve/exec-agent.js');
  const chunk = settings.text('chunk')?.replaceAll('\\n', '\n').replaceAll('\\t', '\t');
  if (chunk === '') throw usageError('--chunk needs a text to cut at');
  return {
    agent: {
      agent: execAgent({ command, chunk, tell: (line) => output.note(`  ${line}`) }),
      name: programName(command),
      description: 'Runs a program.',
    },
  };
}

/** Returns the name of a program for the public card. Arguments, variables and folders of a command may be secret. */
function programName(command: string): string {
  const program = command
    .trim()
    .split(/\s+/)
    .find((word) => !word.includes('='));
  return program?.split(/[/\\]/).at(-1)?.replace(/["']/g, '') || 'Program';
}

const echoAgent: AgentOptions = {
  name: 'Echo',
  description: 'Says what it was told.',
  skills: [{ id: 'echo', name: 'Echo', description: 'Says what it was told.', tags: ['echo'] }],
  agent: (prompt: string) => `Echo: ${prompt}`,
};
