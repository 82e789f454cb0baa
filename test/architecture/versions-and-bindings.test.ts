import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SourceTree } from './source-tree.js';
import { codeOf } from './words.js';

/** Names in code, the folders that they belong to, and all other files that have them. */
interface Subject {
  readonly words: RegExp;
  readonly rooms: readonly string[];
  readonly elsewhere: readonly string[];
}

const CORE: Readonly<Record<string, Subject>> = {
  'a version of the protocol': {
    words: /\bv\d_\d\w*|\w+V\d_\d\w*|['"`](?:0\.2|0\.2\.5|0\.3|1\.0)['"`]/,
    rooms: ['codec/'],
    elsewhere: [
      // The rules of the specification for a call that names no version, and the names that others give 0.3.
      'operations/versions.ts',
      // Cards: which clients get which form, and what a signature covers.
      'app/agent-cards.ts',
      'app/agent-mount.ts',
      'app/card-signing.ts',
      'client/cached-documents.ts',
      'client/card-search.ts',
      'client/missing-interface.ts',
      // Servers of 0.2.5.
      'app/base-server/base-server-calls.ts',
      'app/base-server/base-server-extension.ts',
      'app/base-server/described-base-server.ts',
      // Calls without a wire.
      'app/in-process-way.ts',
      'server/served-tasks.ts',
      // Examples on pages.
      'app/landing-page.ts',
      'app/openapi/described-card.ts',
      'app/openapi/page/docs-page.ts',
      'app/options/agent-options.ts',
      // Notifications name no version on the wire.
      'app/push-delivery.ts',
      'push/receiver/push-receiver.ts',
      'push/receiver/read-notification.ts',
      // For packages of bindings.
      'exports/binding-kit.ts',
    ],
  },
  gRPC: {
    words: /grpc/i,
    rooms: [],
    elsewhere: ['app/server-settings.ts', 'client/missing-interface.ts', 'codec/received-card.ts'],
  },
  "Cap'n Web": { words: /capnweb/i, rooms: [], elsewhere: ['codec/v0_3/agent-card.ts'] },
};

const COMMAND_LINE: Readonly<Record<string, Subject>> = {
  gRPC: {
    words: /grpc/i,
    rooms: [],
    elsewhere: ['agent/bindings.ts', 'commands/error.ts', 'failure/needed-packages.ts'],
  },
};

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The code of the shipped files of a tree, by path. */
function codesOf(tree: SourceTree): ReadonlyMap<string, string> {
  return new Map(tree.shipped.map((file) => [file.path, codeOf(file)]));
}

const codes = new Map(
  ['packages/parley', 'packages/cli'].map((folder) => [folder, codesOf(SourceTree.read(`${root}/${folder}/src`))]),
);

function filesWith({ words, rooms }: Subject, texts: ReadonlyMap<string, string> = new Map()): readonly string[] {
  return [...texts]
    .filter(([path, code]) => !rooms.some((room) => path.startsWith(room)) && words.test(code))
    .map(([path]) => path);
}

it.each([
  ...Object.entries(CORE).map(([name, subject]) => ['packages/parley', name, subject] as const),
  ...Object.entries(COMMAND_LINE).map(([name, subject]) => ['packages/cli', name, subject] as const),
])('in %s, only the listed files name %s', (folder, _, subject) => {
  expect(filesWith(subject, codes.get(folder))).toEqual([...subject.elsewhere].sort());
});

it('the rule notices a version and a binding', () => {
  const tree = SourceTree.of({ 'a.ts': "const a = '0.3';", 'b.ts': '// 0.3', 'codec/c.ts': "const c = '0.3';" });
  const [version] = Object.values(CORE);
  expect(version && filesWith(version, codesOf(tree))).toEqual(['a.ts']);
});

/** The files outside of a room whose code has a word. */
function filesBeside(word: string, room: string, texts = codes.get('packages/parley') ?? new Map()): readonly string[] {
  return filesWith({ words: new RegExp(`\\b${word}\\b`), rooms: [room], elsewhere: [] }, texts);
}

it.each(['ApiKeys', 'BasicUsers', 'BearerTokens', 'ClientCertificates', 'JwtBearer', 'OAuth2', 'OpenIdConnect'])(
  'the scheme %s is in auth/ and at most two files beside it',
  (name) => {
    // A hint for an application is no use of a scheme.
    const hint = 'app/options/agent-options.ts';
    const files = filesBeside(name, 'auth/').filter((path) => path !== hint);
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(2);
    expect(files.length).toBeGreaterThan(0);
  },
);

it.each([
  ['bodyBytes', 'bindings/http/'],
  ['bodyMemory', 'bindings/http/'],
  ['idLength', 'bindings/http/'],
  ['jsonDepth', 'bindings/http/'],
  ['jsonItems', 'bindings/http/'],
  ['headBytes', 'adapters/node/'],
  ['headersMs', 'adapters/node/'],
  ['requestMs', 'adapters/node/'],
  ['pipelined', 'adapters/node/'],
  ['stallMs', 'adapters/'],
  ['listItems', 'server/'],
  ['waitingMessages', 'server/'],
  ['waitingPasswords', 'auth/'],
  ['maxConfigs', 'server/'],
  ['storeBytes', 'files/'],
  ['uploadMs', 'files/'],
])('the limit %s is in %s and at most three files beside it', (name, room) => {
  const files = filesBeside(name, room);
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(3);
  expect(files).toContain('telemetry/reached-limit.ts');
});

it('the rules of schemes and limits notice a file', () => {
  const texts = new Map([
    ['auth/a.ts', 'class ApiKeys {}'],
    ['app/b.ts', 'new ApiKeys()'],
  ]);
  expect(filesBeside('ApiKeys', 'auth/', texts)).toEqual(['app/b.ts']);
});

it('CONTRIBUTING.md names this list', () => {
  expect(readFileSync(`${root}/CONTRIBUTING.md`, 'utf8')).toContain(
    '`test/architecture/versions-and-bindings.test.ts`',
  );
});
