import { CliError } from './cli-error.js';

/** Packages that the tool does not bring, because most of its users do not need them: a module of each. */
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

/** The command that installs the packages of a protocol or a database. `undefined`: they are installed. */
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
