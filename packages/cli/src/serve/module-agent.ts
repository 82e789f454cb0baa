import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { A2AHostOptions, AgentOptions } from 'parley-a2a/node';
import { CliError, usageError } from '../failure/cli-error.js';

/** Several agents by path, or one. */
export type ModuleAgent =
  | { readonly host: Pick<A2AHostOptions, 'agents'> & Partial<A2AHostOptions> }
  | { readonly agent: AgentOptions };

/**
 * Loads what a module exports, as `default` or as `agent`: a function, an executor, an object with `run`, the options of an
 * agent, or `{ agents }` for several.
 * @throws CliError
 */
export async function loadModuleAgent(path: string): Promise<ModuleAgent> {
  const file = resolve(path);
  if (!existsSync(file)) throw usageError(`there is no module ${path}`);
  const loaded = (await import(pathToFileURL(file).href)) as { readonly default?: unknown; readonly agent?: unknown };
  const value = loaded.default ?? loaded.agent;
  if (isAgent(value)) return { agent: { agent: value } as AgentOptions };
  if (isObject(value) && 'agents' in value) return { host: value as unknown as A2AHostOptions };
  if (isObject(value) && ('agent' in value || 'handler' in value)) return { agent: value as unknown as AgentOptions };
  throw new CliError('A2ACLI_ERR_USAGE', `${path} exports no agent`, {
    hint: 'export a function: export const agent = (prompt) => prompt.toUpperCase()',
  });
}

function isAgent(value: unknown): boolean {
  return typeof value === 'function' || (isObject(value) && ('execute' in value || 'run' in value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
