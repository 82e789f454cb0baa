import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { A2AHostOptions, AgentOptions } from 'parley-a2a/node';
import { CliError, usageError } from '../failure/cli-error.js';
import { PACKAGE_ROOT } from '../package-root.js';

/** One agent, or several by path. */
export type ModuleAgent =
  | { readonly host: Pick<A2AHostOptions, 'agents'> & Partial<A2AHostOptions> }
  | { readonly agent: AgentOptions };

/**
 * Loads the agent that a module exports, as `default` or as `agent`. It may be a function, an executor, an object with
 * `run`, the options of an agent, or `{ agents }` for several.
 * @throws CliError
 */
export async function loadModuleAgent(path: string): Promise<ModuleAgent> {
  const file = resolve(path);
  if (!existsSync(file)) throw usageError(`there is no module ${path}`);
  const loaded = await imported(path, file);
  const value = loaded.default ?? loaded.agent;
  // An authenticator beside the agent would protect nothing.
  if ('authenticator' in loaded || (isAgent(value) && 'authenticator' in Object(value)))
    throw new CliError('A2ACLI_ERR_USAGE', `${path} has an authenticator outside of the options of its agent`, {
      hint: 'export both as one object: export default { agent, authenticator }',
    });
  if (isAgent(value)) return { agent: { agent: value } as AgentOptions };
  if (isObject(value) && 'agents' in value) return { host: value as unknown as A2AHostOptions };
  if (isObject(value) && ('agent' in value || 'handler' in value)) return { agent: value as unknown as AgentOptions };
  throw new CliError('A2ACLI_ERR_USAGE', `${path} exports no agent`, {
    hint: 'export a function: export const agent = (prompt) => prompt.toUpperCase()',
  });
}

async function imported(path: string, file: string): Promise<{ readonly default?: unknown; readonly agent?: unknown }> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    const hint = '--debug shows the whole trace';
    throw new CliError(
      'A2ACLI_ERR_INTERNAL',
      `${path} cannot be loaded: ${placeOf(cause, file)}${cause.name}: ${cause.message}`,
      {
        cause,
        hint,
      },
    );
  }
}

/**
 * Returns the file and line of an error while loading. TypeScript errors begin with it. Otherwise it is the first place
 * in the stack outside of Node.js and packages. Syntax errors of JavaScript name no place, so Node.js checks the file.
 */
function placeOf({ name, stack = '' }: Error, file: string): string {
  const urls = stack.split('\n').filter((line) => line.includes('file://'));
  // The column and the bracket after the line number are left out.
  const places = urls.map((line) => line.slice(line.indexOf('file://')).split(':').slice(0, -1).join(':'));
  const own = places.find((place) => !place.includes('/node_modules/') && !place.startsWith(PACKAGE_ROOT.href));
  if (own !== undefined) return `${decodeURI(own.slice('file://'.length))}: `;
  const checked = () => spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' }).stderr;
  const first = firstPlace(stack) ?? (name === 'SyntaxError' ? firstPlace(checked()) : undefined);
  return first === undefined ? '' : `${first}: `;
}

/** Returns the first line that is a path, a colon and a number. */
function firstPlace(text: string): string | undefined {
  const [line = ''] = text.split('\n');
  return /:\d+$/.test(line) ? line : undefined;
}

function isAgent(value: unknown): boolean {
  return typeof value === 'function' || (isObject(value) && ('execute' in value || 'run' in value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
