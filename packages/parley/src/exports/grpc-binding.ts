import { GrpcBinding } from '../adapters/grpc/grpc-binding.js';
import type { HostExtension } from '../app/host-extension.js';
import { type GrpcBindingOptions, grpcBindingSchema } from '../app/options/grpc-options.js';
import { missingPackage } from '../errors/missing-package.js';
import { checkOptions } from '../options/check-options.js';

/**
 * gRPC for one agent, on a port of its own: versions 1.0 and 0.3, health and reflection. Needs `@bufbuild/protobuf`.
 * Given in the option `bindings` of a server.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function grpcBinding(options: GrpcBindingOptions = {}): HostExtension {
  checkOptions({ subject: 'grpcBinding', schema: grpcBindingSchema, options });
  return new GrpcBinding(options, () => loadCodecs().catch(missingPackage('gRPC needs', '@bufbuild/protobuf')));
}

async function loadCodecs() {
  const [{ protobufV1_0 }, { protobufV0_3 }, { lfA2aV1A2a, a2aV1A2a, grpcHealthV1Health, ...files }] =
    await Promise.all([
      import('../codec/protobuf/v1_0.js'),
      import('../codec/protobuf/v0_3.js'),
      import('../codec/protobuf/descriptors.generated.js'),
    ]);
  const { grpcReflectionV1Reflection, grpcReflectionV1alphaReflection } = files;
  return {
    codecs: [protobufV1_0, protobufV0_3],
    files: [lfA2aV1A2a, a2aV1A2a, grpcHealthV1Health, grpcReflectionV1Reflection, grpcReflectionV1alphaReflection],
  };
}
