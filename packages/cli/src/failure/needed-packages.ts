import { CliError } from './cli-error.js';

/** Packages that the tool does not bring, because most of its users do not need them: a module of each. */
const OPTIONAL = {
  gRPC: { '@grpc/grpc-js': '@grpc/grpc-js', '@bufbuild/protobuf': '@bufbuild/protobuf' },
  MCP: { '@modelcontextprotocol/sdk': '@modelcontextprotocol/sdk/types.js' },
} as const;

/**
 * Checks that the packages of a protocol are installed.
 * @throws CliError with the command that installs them.
 */
export function needPackagesOf(protocol: keyof typeof OPTIONAL): void {
  try {
    for (const module of Object.values(OPTIONAL[protocol])) import.meta.resolve(module);
  } catch (cause) {
    const hint = `npm install --global ${Object.keys(OPTIONAL[protocol]).join(' ')}`;
    throw new CliError('A2ACLI_ERR_USAGE', `${protocol} needs packages that are not installed`, { cause, hint });
  }
}
