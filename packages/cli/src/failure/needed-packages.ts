import { CliError } from './cli-error.js';

/**
 * Packages that are not installed with the tool, because most users do not need them. The value is a module of each.
 */
export const OPTIONAL_PACKAGES = {
  gRPC: { '@grpc/grpc-js': '@grpc/grpc-js', '@bufbuild/protobuf': '@bufbuild/protobuf' },
  PostgreSQL: { pg: 'pg' },
  Redis: { ioredis: 'ioredis' },
  OpenTelemetry: {
    '@opentelemetry/api': '@opentelemetry/api',
    '@opentelemetry/sdk-node': '@opentelemetry/sdk-node',
  },
  MCP: { '@modelcontextprotocol/sdk': '@modelcontextprotocol/sdk/types.js' },
} as const;

/** Returns the command that installs the packages of a protocol or a database. `undefined` if they are installed. */
export function lacksPackagesOf(what: keyof typeof OPTIONAL_PACKAGES): string | undefined {
  try {
    for (const module of Object.values(OPTIONAL_PACKAGES[what])) import.meta.resolve(module);
    return undefined;
  } catch {
    return `npm install --global ${Object.keys(OPTIONAL_PACKAGES[what]).join(' ')}`;
  }
}

/**
 * Checks that the packages of a protocol or a database are installed.
 * @throws CliError with the command that installs them.
 */
export function needPackagesOf(what: keyof typeof OPTIONAL_PACKAGES): void {
  const hint = lacksPackagesOf(what);
  if (hint !== undefined)
    throw new CliError('A2ACLI_ERR_USAGE', `${what} needs packages that are not installed`, { hint });
}
