import {
  majorMinor,
  type OperationName,
  type RequestDecoder,
  singleValue,
  VersionNotSupportedError,
} from 'parley-a2a/binding-kit';
import type { ProtobufCodec } from '../protobuf/protobuf-codec.js';

/** The method that a path names. */
export interface GrpcRoute {
  readonly codec: ProtobufCodec;
  readonly operation: OperationName;
}

/** The methods of all versions, by path such as `/lf.a2a.v1.A2AService/GetTask`. */
export function grpcRoutes(codecs: readonly ProtobufCodec[]): ReadonlyMap<string, GrpcRoute> {
  return new Map(
    codecs.flatMap((codec) =>
      [...codec.methods].map(([name, operation]) => [`/${codec.service}/${name}`, { codec, operation }] as const),
    ),
  );
}

/**
 * The decoder for a call. The service decides its version (Spec §10.2). If the metadata name another version, the
 * decoder refuses the call. `asked` is empty if the metadata name none.
 */
export function decoderOf({ codec }: GrpcRoute, asked: string): RequestDecoder {
  if (asked === '' || asked === codec.version || majorMinor(asked) === codec.version) return codec;
  return {
    version: codec.version,
    decode() {
      singleValue('A2A-Version', asked);
      throw new VersionNotSupportedError(asked.slice(0, 32), [codec.version]);
    },
  };
}
