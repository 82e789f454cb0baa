import type { HostExtension } from 'parley-a2a/binding-kit';
import { checkOptions } from 'parley-a2a/kit';
import { GrpcBinding } from './server/grpc-binding.js';
import { type GrpcBindingOptions, grpcBindingSchema } from './server/grpc-options.js';

/**
 * gRPC for one agent, on its own port: versions 1.0 and 0.3, health and reflection. For the option `bindings` of a
 * server.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function grpcBinding(options: GrpcBindingOptions = {}): HostExtension {
  checkOptions({ subject: 'grpcBinding', schema: grpcBindingSchema, options });
  return new GrpcBinding(options, loadCodecs);
}

async function loadCodecs() {
  const [{ protobufV1_0 }, { protobufV0_3 }, { lfA2aV1A2a, a2aV1A2a, grpcHealthV1Health, ...files }] =
    await Promise.all([
      import('./protobuf/v1_0.js'),
      import('./protobuf/v0_3.js'),
      import('./protobuf/descriptors.generated.js'),
    ]);
  const { grpcReflectionV1Reflection, grpcReflectionV1alphaReflection } = files;
  return {
    codecs: [protobufV1_0, protobufV0_3],
    files: [lfA2aV1A2a, a2aV1A2a, grpcHealthV1Health, grpcReflectionV1Reflection, grpcReflectionV1alphaReflection],
  };
}
