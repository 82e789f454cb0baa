import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { A2AHostOptions, AgentOptions } from 'parley-a2a/node';
import { closest } from '../command-line/closest.js';
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
  const file = moduleFile(path);
  const loaded = await importModule(path, file);
  const value = loaded.default ?? loaded.agent;
  // An authenticator beside the agent would not be used.
  if ('authenticator' in loaded || (isAgent(value) && 'authenticator' in Object(value)))
    throw new CliError('A2ACLI_ERR_USAGE', `${path} has an authenticator outside of the options of its agent`, {
      hint: 'export both as one object: export default { agent, authenticator }',
    });
  if (isAgent(value)) return { agent: { agent: value } as AgentOptions };
  if (isObject(value) && 'agents' in value) return { host: value as unknown as A2AHostOptions };
  if (isObject(value) && ('agent' in value || 'handler' in value)) return { agent: value as unknown as AgentOptions };
  throw new CliError('A2ACLI_ERR_USAGE', `${path} exports no agent`, { hint: exportHint(loaded, value) });
}

/**
 * Returns the path of a module.
 * @throws CliError if it does not exist.
 */
export function moduleFile(path: string): string {
  const file = resolve(path);
  if (!existsSync(file)) throw usageError(`there is no module ${path}`);
  return file;
}

const MEMBERS = ['agent', 'agents', 'handler', 'execute', 'run'];

/** Returns the change that turns the exports of a module into an agent. */
function exportHint(loaded: object, value: unknown): string {
  if (value instanceof Promise) return 'it exports a promise: await it, as in export default await makeAgent()';
  const [name] = Object.keys(loaded).filter((one) => isAgent((loaded as Record<string, unknown>)[one]));
  if (value === undefined && name !== undefined)
    return `it exports ${name}: give it the name agent, as in export { ${name} as agent }`;
  const names = isObject(value) ? Object.keys(value) : [];
  for (const one of names) {
    if (MEMBERS.includes(one)) return `${one} of its export must be a function`;
    const meant = closest(one, MEMBERS);
    if (meant !== undefined) return `its export has ${one}; did you mean ${meant}?`;
  }
  return 'export a function: export const agent = (prompt) => prompt.toUpperCase()';
}

async function importModule(
  path: string,
  file: string,
): Promise<{ readonly default?: unknown; readonly agent?: unknown }> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    const hint = loadHint(cause, path);
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

function loadHint({ message, ...error }: Error, path: string): string {
  const { code } = error as { readonly code?: unknown };
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return `serve loads JavaScript and TypeScript; --exec runs any program: parley serve --exec "<program> ${path}"`;
  const [, name] = /^Cannot find package '(@[^/']+\/[^/']+|[^/']+)/.exec(message) ?? [];
  return code === 'ERR_MODULE_NOT_FOUND' && name !== undefined
    ? `npm install ${name}`
    : '--debug shows the whole trace';
}

/**
 * Returns the file and line of an error during loading. TypeScript errors begin with it. Otherwise it is the first
 * place in the stack outside of Node.js and packages. Syntax errors of JavaScript contain no place, so Node.js checks
 * the file and its imports.
 */
function placeOf({ name, stack = '' }: Error, file: string): string {
  const urls = stack.split('\n').filter((line) => line.includes('file://'));
  // The column and the bracket after the line number are left out.
  const places = urls.map((line) => line.slice(line.indexOf('file://')).split(':').slice(0, -1).join(':'));
  const own = places.find((place) => !place.includes('/node_modules/') && !place.startsWith(PACKAGE_ROOT.href));
  if (own !== undefined) return `${decodeURI(own.slice('file://'.length))}: `;
  const first = firstPlace(stack) ?? (name === 'SyntaxError' ? syntaxFault(file, new Set()) : undefined);
  return first === undefined ? '' : `${first}: `;
}

/** Returns the place of the syntax error in a file, or in its relative imports. */
function syntaxFault(file: string, seen: Set<string>): string | undefined {
  if (seen.has(file) || !existsSync(file)) return undefined;
  seen.add(file);
  const found = firstPlace(spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' }).stderr);
  if (found !== undefined) return found;
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import) *['"](\.{1,2}\/[^'"\n]*)['"]/g,
  )) {
    const inside = syntaxFault(resolve(dirname(file), specifier), seen);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/** Returns the first line that is a path, a colon and a number. */
function firstPlace(text: string): string | undefined {
  const [line = ''] = text.split('\n');
  return /:\d+$/.test(line) ? line : undefined;
}

function isAgent(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return isObject(value) && (typeof value.execute === 'function' || typeof value.run === 'function');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
