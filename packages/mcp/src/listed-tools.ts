import { isObject, untrustedSchema } from 'parley-a2a/kit';
import type { StandardSchema } from 'parley-a2a/tools';
import { shortenText } from './bounded-text.js';

/** A tool of an MCP server, after validation. */
export interface ListedTool {
  /** The name for models: the name of the connection, `_`, and the name in the server. */
  readonly name: string;
  /** The name in the server. */
  readonly remoteName: string;
  readonly description: string;
  readonly input: StandardSchema;
  readonly output: StandardSchema | undefined;
  /** True if the server requires a task for the tool. */
  readonly needsTask: boolean;
}

/** Maximum number of tools of one server. The rest are left out. */
export const MOST_TOOLS = 256;

const DESCRIPTION_LENGTH = 4_000;
const NAME = /^[\w.-]{1,64}$/;

/**
 * Checks the tools that a server lists. Leaves out tools with a wrong name, a repeated name, or a schema that is wrong
 * or too large, and reports them.
 */
export function listedTools(
  tools: readonly unknown[],
  { connection, leftOut }: { readonly connection: string; readonly leftOut: (name: string) => void },
): readonly ListedTool[] {
  const found = new Map<string, ListedTool>();
  for (const tool of tools.slice(0, MOST_TOOLS)) {
    const listed = listedTool(tool, connection);
    if (listed === undefined || found.has(listed.name)) leftOut(nameOf(tool));
    else found.set(listed.name, listed);
  }
  return [...found.values()];
}

function listedTool(tool: unknown, connection: string): ListedTool | undefined {
  if (!isObject(tool) || typeof tool.name !== 'string' || !NAME.test(tool.name)) return undefined;
  const input =
    isObject(tool.inputSchema) && tool.inputSchema.type === 'object' ? untrustedSchema(tool.inputSchema) : undefined;
  const output = tool.outputSchema === undefined ? undefined : untrustedSchema(tool.outputSchema);
  if (input === undefined || (output === undefined && tool.outputSchema !== undefined)) return undefined;
  return {
    name: `${connection}_${tool.name}`,
    remoteName: tool.name,
    description: shortenText(typeof tool.description === 'string' ? tool.description : '', DESCRIPTION_LENGTH),
    input,
    output,
    needsTask: isObject(tool.execution) && tool.execution.taskSupport === 'required',
  };
}

function nameOf(tool: unknown): string {
  return isObject(tool) && typeof tool.name === 'string' ? shortenText(tool.name, 100) : '';
}
