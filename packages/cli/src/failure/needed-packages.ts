import { CliError } from './cli-error.js';

/** Packages that the tool does not bring, because most of its users do not need them: a module of each. */
const OPTIONAL = {
  gRPC: { '@grpc/grpc-js': '@grpc/grpc-js', '@bufbuild/protobuf': '@bufbuild/protobuf' },
  PostgreSQL: { pg: 'pg', kysely: 'kysely' },
  Redis: { ioredis: 'ioredis' },
  MCP: { '@modelcontextprotocol/sdk': '@modelcontextprotocol/sdk/types.js' },
} as const;

/**
 * Checks that the packages of a protocol or a database are installed.
 * @throws CliError with the command that installs them.
 */
export function needPackagesOf(what: keyof typeof OPTIONAL): void {
  try {
    for (const module of Object.values(OPTIONAL[what])) import.meta.resolve(module);
  } catch (cause) {
    const hint = `npm install --global ${Object.keys(OPTIONAL[what]).join(' ')}`;
    throw new CliError('A2ACLI_ERR_USAGE', `${what} needs packages that are not installed`, { cause, hint });
  }
}
