import {
  create,
  createRegistry,
  type DescFile,
  fromBinary,
  type Message,
  type Registry,
  toBinary,
} from '@bufbuild/protobuf';
import { type GenMessage, messageDesc } from '@bufbuild/protobuf/codegenv2';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { grpcReflectionV1Reflection } from '../protobuf/descriptors.generated.js';
import { GRPC_STATUS } from './grpc-status.js';

/** The services of reflection, whose messages are the same. */
export const REFLECTION_SERVICES: readonly string[] = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
];

type Ask =
  | {
      readonly case: 'fileByFilename' | 'fileContainingSymbol' | 'allExtensionNumbersOfType' | 'listServices';
      readonly value: string;
    }
  | { readonly case: 'fileContainingExtension'; readonly value: unknown }
  | { readonly case: undefined; readonly value?: undefined };
type ReflectionRequest = Message<'grpc.reflection.v1.ServerReflectionRequest'> & {
  readonly host: string;
  readonly messageRequest: Ask;
};
type ReflectionResponse = Message<'grpc.reflection.v1.ServerReflectionResponse'>;

const Request: GenMessage<ReflectionRequest> = messageDesc(grpcReflectionV1Reflection, 0);
const Response: GenMessage<ReflectionResponse> = messageDesc(
  grpcReflectionV1Reflection,
  grpcReflectionV1Reflection.messages.findIndex(({ name }) => name === 'ServerReflectionResponse'),
);

/** The served descriptors, and the names of the services. */
interface ReflectionOptions {
  readonly files: readonly DescFile[];
  readonly services: readonly string[];
}

/**
 * Answers the requests of reflection: the services, and the descriptors of their files with all files that they import.
 * Throws for bytes that are no request.
 */
export function reflection({ files, services }: ReflectionOptions): (request: Uint8Array) => Uint8Array {
  const registry = createRegistry(...files);
  const byName = new Map(withImports(files).map((file) => [`${file.name}.proto`, file]));
  const answerTo = ({ case: asked, value }: Ask): object => {
    if (asked === 'listServices') {
      return { case: 'listServicesResponse', value: { service: services.map((name) => ({ name })) } };
    }
    if (asked === 'fileByFilename') return filesAnswer(byName.get(value), value);
    if (asked === 'fileContainingSymbol') return filesAnswer(fileOf(registry, value), value);
    // The served messages have no extensions.
    return failure(GRPC_STATUS.NOT_FOUND, 'No extensions are served');
  };
  return (bytes) => {
    const request = fromBinary(Request, bytes);
    return toBinary(
      Response,
      create(Response, {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answerTo(request.messageRequest),
      } as object),
    );
  };
}

/** The files and all files that they import, each once. */
function withImports(files: readonly DescFile[]): readonly DescFile[] {
  const all = new Set<DescFile>();
  const add = (file: DescFile) => {
    if (all.has(file)) return;
    all.add(file);
    file.dependencies.forEach(add);
  };
  files.forEach(add);
  return [...all];
}

function filesAnswer(file: DescFile | undefined, asked: string): object {
  if (file === undefined) return failure(GRPC_STATUS.NOT_FOUND, `${asked.slice(0, 200)} is not served`);
  const protos = withImports([file]).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto: protos } };
}

function failure(errorCode: number, errorMessage: string): object {
  return { case: 'errorResponse', value: { errorCode, errorMessage } };
}

/** The file of a service, a message, an enum, or a method or field of one of them. */
function fileOf(registry: Registry, symbol: string): DescFile | undefined {
  const name = symbol.replace(/^\./, '');
  const found = registry.get(name) ?? registry.get(name.slice(0, Math.max(0, name.lastIndexOf('.'))));
  return found?.file;
}
