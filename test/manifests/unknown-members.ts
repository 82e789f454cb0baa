import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { type KubernetesObject, modelPath } from './read-manifests.js';

const FILE = fileURLToPath(new URL('objects.ts', import.meta.url));

/**
 * Members that Kubernetes does not know, and values of a wrong type, as the compiler says it. The API server ignores
 * unknown members, so that a misspelled one would have no effect. A literal with a type allows none.
 */
export function unknownMembers(objects: readonly KubernetesObject[]): readonly string[] {
  const text = objects.map((object, at) => literal(object, at)).join('\n');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (name, version) =>
    name === FILE ? ts.createSourceFile(name, text, version) : getSourceFile.call(host, name, version);
  host.fileExists = (name) => name === FILE || fileExists.call(host, name);
  host.readFile = (name) => (name === FILE ? text : readFile.call(host, name));
  host.getCurrentDirectory = () => join(FILE, '..');
  const program = ts.createProgram([FILE], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n').trim());
}

function literal(object: KubernetesObject, at: number): string {
  return [
    `import { type I${object.kind} as Object${at} } from '${modelPath(object)}';`,
    `export const object${at}: Object${at} = ${JSON.stringify(object, undefined, 2)};`,
  ].join('\n');
}
