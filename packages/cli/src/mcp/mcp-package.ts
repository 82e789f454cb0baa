import { CliError } from '../failure/cli-error.js';

const NAME = 'parley-a2a-mcp';

/**
 * Loads the package of MCP. The tool does not bring it, because most of its users do not need it.
 * @throws CliError with the command that installs it.
 */
export async function mcpPackage(): Promise<typeof import('parley-a2a-mcp')> {
  try {
    return await import(NAME);
  } catch (cause) {
    const hint = `npm install --global ${NAME}`;
    throw new CliError('A2ACLI_ERR_USAGE', `MCP needs a package that is not installed: ${NAME}`, { cause, hint });
  }
}
