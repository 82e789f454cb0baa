import type { ClientBinding } from 'parley-a2a/client';
import { grpcTransport } from 'parley-a2a/grpc';
import { CliError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';
import { certificatePair } from './client-certificate.js';

/** The packages of gRPC. The tool does not bring them, because most of its users do not need them. */
const PACKAGES = ['@grpc/grpc-js', '@bufbuild/protobuf'];

/** Makes the binding of gRPC, with the client certificate of the settings. The first call loads its packages. */
export function grpcBindingOf(settings: Settings): ClientBinding {
  const tls = certificatePair(settings);
  const binding = grpcTransport(tls === undefined ? {} : { tls });
  return {
    speaks: (agentInterface) => binding.speaks(agentInterface),
    transport: async (agentInterface, limits) => {
      for (const name of PACKAGES) await import(name).catch(missing);
      return binding.transport(agentInterface, limits);
    },
  };
}

function missing(cause: unknown): never {
  const hint = `npm install --global ${PACKAGES.join(' ')}`;
  throw new CliError('A2ACLI_ERR_USAGE', 'gRPC needs packages that are not installed', { cause, hint });
}
