import type { ClientBinding } from 'parley-a2a/client';
import { grpcTransport } from 'parley-a2a-grpc';
import { needPackagesOf } from '../failure/needed-packages.js';
import type { Settings } from '../settings/settings.js';
import { certificatePair } from './client-certificate.js';

/** Makes the binding of gRPC, with the client certificate of the settings. The first call loads its packages. */
export function grpcBindingOf(settings: Settings): ClientBinding {
  const tls = certificatePair(settings);
  const binding = grpcTransport(tls === undefined ? {} : { tls });
  return {
    speaks: (agentInterface) => binding.speaks(agentInterface),
    transport: (agentInterface, limits) => {
      needPackagesOf('gRPC');
      return binding.transport(agentInterface, limits);
    },
  };
}
