// Writes the descriptors of all .proto files as TypeScript. Run it by hand after a change of a .proto file. It needs
// protoc (Debian: protobuf-compiler). A test reads the .proto files without it, and compares them with the result.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { embedFileDesc } from '@bufbuild/protobuf/codegenv2';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

const root = join(import.meta.dirname, '../../..');

/** Folders with .proto files, and the file for their descriptors. */
const TARGETS = {
  'packages/grpc/proto': 'packages/grpc/src/protobuf/descriptors.generated.ts',
  'examples/agents/proto': 'examples/agents/src/traversal-descriptors.generated.ts',
};
const WELL_KNOWN = 'google/protobuf/';

/** `lf/a2a/v1/a2a.proto` → `lfA2aV1A2a`, and `google/protobuf/any.proto` → the name of its package. */
function nameOf(path) {
  const words = path.replace(/\.proto$/, '').split(/[/_]/);
  if (path.startsWith(WELL_KNOWN)) return `file_${words.join('_')}`;
  return words.map((word, at) => (at === 0 ? word : word[0].toUpperCase() + word.slice(1))).join('');
}

function compiled(sources) {
  const folder = mkdtempSync(join(tmpdir(), 'protobuf-'));
  try {
    const out = join(folder, 'descriptors');
    const files = readdirSync(sources, { recursive: true }).filter((path) => path.endsWith('.proto'));
    execFileSync('protoc', [`-I${sources}`, `--descriptor_set_out=${out}`, ...files.sort()]);
    return fromBinary(FileDescriptorSetSchema, readFileSync(out)).file;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function generated(folder) {
  const files = compiled(join(root, folder));
  const wellKnown = files.flatMap(({ dependency }) => dependency.filter((path) => path.startsWith(WELL_KNOWN)));
  const lines = [
    `// Written by packages/grpc/scripts/generate-protobuf.mjs from ${folder}.`,
    "import { fileDesc } from '@bufbuild/protobuf/codegenv2';",
  ];
  if (wellKnown.length > 0) {
    const names = [...new Set(wellKnown.map(nameOf))].sort().join(', ');
    lines.push(`import { ${names} } from '@bufbuild/protobuf/wkt';`);
  }
  for (const file of files) {
    const dependencies = file.dependency.map(nameOf).join(', ');
    lines.push(
      `/** The descriptors of ${file.name}. */`,
      `export const ${nameOf(file.name)} = /*@__PURE__*/ fileDesc('${embedFileDesc(file).base64()}', [${dependencies}]);`,
    );
  }
  return `${lines.join('\n')}\n`;
}

for (const [folder, target] of Object.entries(TARGETS)) writeFileSync(join(root, target), generated(folder));
