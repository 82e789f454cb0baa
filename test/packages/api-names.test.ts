import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type ApiSymbol, publicApis } from '../../scripts/api-report.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const apis = publicApis();
const entries = apis.flatMap((api) => api.entries);

/** Names with two declarations, which mean the same. */
const SAME_MEANING: readonly RegExp[] = [
  // Classes of the core with the clock, ids and `fetch` of the machine as defaults.
  /^(ApiKeys|BasicUsers|BearerTokens|ClientCertificates|JwtBearer|OAuth2|OpenIdConnect|PushReceiver|ToolRegistry)$/,
  // The handler of the engine, isolated from its callers.
  /^DefaultRequestHandler$/,
];

/** The types of another version of the protocol have the names of its specification. */
const VERSIONED = 'parley-a2a/v0_3';

/** Import paths for authors of packages, which import nothing else. Their names may change in every version. */
const FOR_PACKAGES = [
  'parley-a2a/kit',
  'parley-a2a/binding-kit',
  'parley-a2a/server-settings',
  'parley-a2a/storage-engine',
  'parley-a2a/workers',
];

/** Import paths that share names, with the reason. */
const SHARING: readonly { readonly paths: readonly string[]; readonly names?: readonly string[] }[] = [
  // The halves of the root, each complete: a bundle with one of them has nothing of the other.
  { paths: ['parley-a2a', 'parley-a2a/client', 'parley-a2a/server'] },
  // Functions for Node.js are in the root, and their options without Node.js in `server`.
  { paths: ['parley-a2a', 'parley-a2a/server', 'parley-a2a/node'] },
  // An authenticator, which an application writes with either of them.
  {
    paths: ['parley-a2a', 'parley-a2a/server', 'parley-a2a/auth'],
    names: ['Authentication', 'Authenticator', 'User', 'Credentials'],
  },
  // The storages that a server without Node.js takes.
  {
    paths: ['parley-a2a', 'parley-a2a/server', 'parley-a2a/storage'],
    names: ['MemoryStorage', 'MemoryStorageOptions', 'TaskStorage', 'TaskStore', 'TaskStoreFilter', 'openStorage'],
  },
  // The errors that a module throws, beside the functions that throw them.
  {
    paths: ['parley-a2a', 'parley-a2a/node', 'parley-a2a/push-receiver', 'parley-a2a/storage', 'parley-a2a/tools'],
    names: ['OptionsError', 'StorageError'],
  },
  // Data of one owner: the storage counts and erases, Node.js exports.
  { paths: ['parley-a2a/node', 'parley-a2a/storage'], names: ['ErasedCounts', 'OwnerCounts', 'OwnerQuery'] },
  // Plain types in the signatures of another module.
  { paths: ['parley-a2a', 'parley-a2a/tools'], names: ['JsonObject', 'JsonValue'] },
  { paths: ['parley-a2a/schemas', 'parley-a2a/tools'], names: ['StandardSchema'] },
  { paths: ['parley-a2a', 'parley-a2a/push-receiver'], names: ['StreamResponse'] },
  { paths: ['parley-a2a/auth', 'parley-a2a/credentials'], names: ['ApiKeyPlace'] },
  { paths: ['parley-a2a/client', 'parley-a2a/credentials'], names: ['CredentialProvider'] },
  { paths: ['parley-a2a/client', 'parley-a2a/files'], names: ['FILES_EXTENSION'] },
];

/** Exported names that begin with a participle and name what they return or make, not what was done to an argument. */
const NOUNS: readonly string[] = [
  ...['interceptedStorage', 'receivedChallenges', 'receivedError', 'refusedAddressIn', 'refusedCoding', 'steadyLogger'],
  ...['checkedLookup', 'credentialedFetch', 'guardedFetch', 'endedCredentialError', 'interruptedText', 'passedBound'],
  ...['listedInterfaces', 'recordedCalls', 'decidedCalls', 'canceledChange', 'scopedTasks', 'signedCalls'],
  ...['storedTask', 'verifiedSigners', 'askedCallIds', 'repeatedFieldError', 'untrustedSchema'],
];
const PARTICIPLE =
  /^([a-z]+ed|told|made|shown|left|given|said|sent|kept|held|known|taken|seen|found|built)(?=[A-Z0-9]|$)/;

/** The import paths of each declaration, by its name. */
function pathsOf(symbols: readonly { readonly path: string; readonly symbol: ApiSymbol }[]) {
  const byName = Map.groupBy(symbols, ({ symbol }) => symbol.name);
  return [...byName].map(([name, found]) => {
    const targets = Map.groupBy(found, ({ symbol }) => symbol.target);
    return { name, declarations: [...targets.values()].map((same) => same.map(({ path }) => path)) };
  });
}

const exported = entries.flatMap(({ path, symbols }) => symbols.map((symbol) => ({ path, symbol })));

it('has one meaning for each name of a package', () => {
  const twofold = apis.flatMap((api) => {
    const own = api.entries.filter(({ path }) => path !== VERSIONED);
    const symbols = own.flatMap(({ path, symbols }) => symbols.map((symbol) => ({ path, symbol })));
    const hidden = api.behind.map((symbol) => ({ path: 'not exported', symbol }));
    const named = pathsOf([...symbols, ...hidden].filter(({ symbol }) => symbol.from === undefined));
    return named.filter(({ declarations }) => declarations.length > 1).map(({ name }) => `${api.name}: ${name}`);
  });
  expect(twofold.filter((name) => !SAME_MEANING.some((same) => same.test(name.split(': ')[1] ?? '')))).toEqual([]);
});

it('exports a name from one path, apart from those that share names for a reason', () => {
  // A package exports the names of another one again for its own signatures.
  const own = exported.filter(({ symbol }) => symbol.from === undefined);
  const shared = pathsOf(own.filter(({ path }) => !FOR_PACKAGES.includes(path)));
  const twice = shared.flatMap(({ name, declarations }) =>
    declarations.flatMap((paths) => pairs(paths).map((pair) => ({ name, pair }))),
  );
  const hasReason = ({ name, pair }: { name: string; pair: readonly string[] }) =>
    SHARING.some(({ paths, names }) => pair.every((path) => paths.includes(path)) && (names?.includes(name) ?? true));
  const problems = twice.filter((one) => !hasReason(one)).map(({ name, pair }) => `${name}: ${pair.join(' and ')}`);
  expect(problems).toEqual([]);
});

it('documents import a name from the root if it is there, and from one path in any case', () => {
  const inRoot = new Set(entries.find(({ path }) => path === 'parley-a2a')?.symbols.map(({ name }) => name));
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const paths = new Map<string, Set<string>>();
  for (const file of files.filter((name) => !name.endsWith('CHANGELOG.md'))) {
    for (const [, names = '', path = ''] of readFileSync(`${root}/${file}`, 'utf8').matchAll(IMPORT)) {
      for (const [, name = ''] of names.matchAll(/(?:type )?(\w+)(?: as \w+)?,?/g)) {
        if (path !== VERSIONED) paths.set(name, (paths.get(name) ?? new Set()).add(path));
      }
    }
  }
  expect(paths.size).toBeGreaterThan(100);
  const problems = [...paths].filter(([name, from]) => from.size > 1 || (inRoot.has(name) && !from.has('parley-a2a')));
  expect(problems.map(([name, from]) => `${name}: ${[...from].join(' and ')}`)).toEqual([]);
});

it('names functions as imperative verbs, conversions, questions or by what they return', () => {
  const functions = exported.filter(({ symbol }) => /^(function|const \w+: (<.*>)?\()/.test(symbol.text));
  const names = new Set(functions.map(({ symbol }) => symbol.name));
  expect([...names].filter((name) => PARTICIPLE.test(name) && !NOUNS.includes(name))).toEqual([]);
  expect(NOUNS.filter((name) => !names.has(name))).toEqual([]);
});

const KEYWORDS = 'export|declare|abstract|readonly|static|async|function|class|interface|type|const|get';
const DEPRECATED = new RegExp(`@deprecated([^@]*?)\\*/\\s*(?:(?:${KEYWORDS}) )*(\\w+)`, 'g');

/** Deprecated declarations that do not say what to use instead, or that the changelog does not name. */
function deprecationProblems(path: string, text: string, changelog: string): readonly string[] {
  const found = text.matchAll(DEPRECATED);
  return [...found].flatMap(([, hint = '', name = '']) => [
    ...(/\bUse /.test(hint) ? [] : [`${path}: ${name} does not say what to use`]),
    ...(changelog.includes(`\`${name}\``) ? [] : [`${path}: the changelog does not name ${name}`]),
  ]);
}

it('a deprecated name says what to use instead, and is in the changelog', () => {
  const changelog = readFileSync(`${root}/CHANGELOG.md`, 'utf8');
  const files = execFileSync('git', ['ls-files', 'packages/*/src/*.ts'], { cwd: root, encoding: 'utf8' }).trim();
  const sources = files.split('\n').filter((path) => !path.endsWith('.test.ts'));
  expect(sources.length).toBeGreaterThan(500);
  const problems = sources.flatMap((path) =>
    deprecationProblems(path, readFileSync(`${root}/${path}`, 'utf8'), changelog),
  );
  expect(problems).toEqual([]);
});

it.each([
  ['/** @deprecated */\nexport function open(): void {}', '`open`', ['a.ts: open does not say what to use']],
  ['/** @deprecated Use `start`. */\n  readonly begin?: number;', '', ['a.ts: the changelog does not name begin']],
  ['/** @deprecated Use `start`. */\nexport class Beginning {}', '`Beginning` is deprecated', []],
])('the rule of deprecated names reads %j', (text, changelog, problems) => {
  expect(deprecationProblems('a.ts', text, changelog)).toEqual(problems);
});

const IMPORT = /import (?:type )?\{([^}]*)\} from '(parley-a2a[\w/-]*)'/g;

function pairs(paths: readonly string[]): (readonly string[])[] {
  return paths.flatMap((one, index) => paths.slice(index + 1).map((other) => [one, other]));
}
