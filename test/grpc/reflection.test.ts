import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { grpcReflectionV1Reflection as file } from '../../packages/grpc/src/protobuf/descriptors.generated.js';
import { GrpcTester, serve } from './grpc-world.js';

interface Answer {
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly string[] };
  readonly errorResponse?: { readonly errorCode: number };
}

/** Asks one after the other on one stream. */
async function ask(address: string, version: 'v1' | 'v1alpha', asks: readonly JsonValue[]): Promise<Answer[]> {
  const method = file.services[0]?.methods[0];
  if (method === undefined) throw new Error('no method');
  const call = new GrpcTester(address).raw.makeBidiStreamRequest(
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    (json: JsonValue) => Buffer.from(toBinary(method.input, fromJson(method.input, json))),
    (bytes: Buffer) => toJson(method.output, fromBinary(method.output, bytes)) as Answer,
  );
  const answers: Answer[] = [];
  const read = call[Symbol.asyncIterator]();
  for (const one of asks) {
    call.write(one);
    const { value } = await read.next();
    answers.push(value as Answer);
  }
  call.end();
  expect((await read.next()).done).toBe(true);
  return answers;
}

describe.each(['v1', 'v1alpha'] as const)('server reflection %s', (version) => {
  it('lists the services, and gives the files of a symbol with their imports', async () => {
    const { address } = await serve();
    const [listed, symbol, byName, unknown] = await ask(address, version, [
      { listServices: '' },
      { fileContainingSymbol: 'lf.a2a.v1.A2AService.SendMessage' },
      { fileByFilename: 'a2a/v1/a2a.proto' },
      { fileContainingSymbol: 'nothing.Here' },
    ]);
    expect(listed?.listServicesResponse?.service.map(({ name }) => name)).toEqual([
      'lf.a2a.v1.A2AService',
      'a2a.v1.A2AService',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    const names = (answer: Answer | undefined) =>
      answer?.fileDescriptorResponse?.fileDescriptorProto.map(
        (text) => fromBinary(FileDescriptorProtoSchema, Buffer.from(text, 'base64')).name,
      );
    expect(names(symbol)).toContain('lf/a2a/v1/a2a.proto');
    expect(names(symbol)).toContain('google/protobuf/struct.proto');
    expect(names(byName)?.[0]).toBe('a2a/v1/a2a.proto');
    expect(unknown?.errorResponse?.errorCode).toBe(5);
  });
});

it('reflection can be switched off', async () => {
  const { address } = await serve({}, { reflection: false });
  await expect(ask(address, 'v1', [{ listServices: '' }])).rejects.toThrow('UNIMPLEMENTED');
});
