import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Release {
  readonly version: string;
  readonly day: string;
  readonly manifests: Readonly<Record<string, string>>;
  readonly changelog: string;
  readonly isClean: boolean;
}

interface Provenance {
  readonly manifests: readonly object[];
  readonly env: NodeJS.ProcessEnv;
}

interface PublishOptions {
  readonly version: string;
  readonly tag?: string;
  readonly provenance?: boolean;
  readonly registry?: string;
}

const module: string = new URL('../../scripts/release-plan.mjs', import.meta.url).href;
const { planRelease, provenanceProblems, publishCommand, publishProblems } = (await import(module)) as {
  publishCommand(file: string, options: PublishOptions): readonly string[];
  provenanceProblems(provenance: Provenance): readonly string[];
  publishProblems(commit: {
    readonly version: string;
    readonly tags: readonly string[];
    readonly isClean: boolean;
  }): readonly string[];
  planRelease(release: Release): {
    readonly problems: readonly string[];
    readonly files: Readonly<Record<string, string>>;
  };
};

const CORE = '{\n  "name": "parley-a2a",\n  "version": "0.1.0",\n  "dependencies": { "typebox": "0.1.0" }\n}\n';
const BESIDE =
  '{\n  "name": "parley-a2a-mcp",\n  "version": "0.1.0",\n  "peerDependencies": { "parley-a2a": "0.1.0" }\n}\n';
const EXAMPLE =
  '{\n  "name": "example",\n  "private": true,\n  "version": "0.1.0",\n  "dependencies": { "parley-a2a": "*" }\n}\n';
const READY: Release = {
  version: '0.2.0',
  day: '2030-01-02',
  manifests: { 'a/package.json': CORE, 'b/package.json': BESIDE, 'c/package.json': EXAMPLE },
  changelog: '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n',
  isClean: true,
};

describe('a release', () => {
  it('gives all published packages its version, also where they need each other, and nothing else', () => {
    const { problems, files } = planRelease(READY);
    expect(problems).toEqual([]);
    expect(files).toEqual({
      'a/package.json': CORE.replace('"version": "0.1.0"', '"version": "0.2.0"'),
      'b/package.json': BESIDE.replaceAll('0.1.0', '0.2.0'),
      'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2030-01-02\n\n### Added\n\n- A thing.\n',
    });
  });

  it.each([
    [{ version: 'next' }, 'next is no version'],
    [{ version: '0.1.0' }, '0.1.0 is not after 0.1.0'],
    [{ version: '0.1.0-rc.1' }, '0.1.0-rc.1 is not after 0.1.0'],
    [{ version: '0.0.9' }, '0.0.9 is not after 0.1.0'],
    [{ isClean: false }, 'not committed'],
    [{ changelog: '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2029-01-01\n\n- Old.\n' }, 'no entry'],
    [{ manifests: { ...READY.manifests, 'b/package.json': BESIDE.replace('0.1.0', '0.0.1') } }, 'several versions'],
  ])('is refused with %o', (changed, problem) => {
    const { problems, files } = planRelease({ ...READY, ...changed });
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(files).toEqual({});
  });

  it.each([
    ['0.1.0', '0.2.0-rc.1'],
    ['0.2.0-rc.1', '0.2.0-rc.2'],
    ['0.2.0-beta.2', '0.2.0-rc.1'],
    ['0.2.0-rc.9', '0.2.0'],
    ['0.9.0', '0.10.0'],
  ])('may follow %s as %s', (current, version) => {
    const manifests = { 'a/package.json': CORE.replace('"version": "0.1.0"', `"version": "${current}"`) };
    expect(planRelease({ ...READY, manifests, version }).problems).toEqual([]);
  });
});

describe('a publication', () => {
  const GITHUB = { GITHUB_ACTIONS: 'true', ACTIONS_ID_TOKEN_REQUEST_URL: 'https://token.example' };
  const GITLAB = { GITLAB_CI: 'true', SIGSTORE_ID_TOKEN: 'token' };
  const named = { name: 'parley-a2a', repository: { type: 'git', url: 'https://git.example/parley' } };

  it.each<[manifest: object, env: NodeJS.ProcessEnv, problems: readonly string[]]>([
    [named, GITHUB, []],
    [named, GITLAB, []],
    [named, {}, ['OIDC']],
    [named, { GITHUB_ACTIONS: 'true' }, ['OIDC']],
    [{ name: 'parley-a2a' }, GITHUB, ['of parley-a2a']],
  ])('of %o with %o has the provenance problems %j', (manifest, env, problems) => {
    const found = provenanceProblems({ manifests: [manifest], env });
    expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem)));
  });

  it.each([
    [{ version: '0.2.0', tags: ['latest', 'v0.2.0'], isClean: true }, []],
    [{ version: '0.2.0', tags: ['v0.2.0'], isClean: false }, ['not committed']],
    [{ version: '0.2.0', tags: ['v0.1.0'], isClean: true }, ['no tag v0.2.0']],
  ])('of the commit %o has the problems %j', (commit, problems) => {
    expect(publishProblems(commit)).toEqual(problems.map((problem) => expect.stringContaining(problem)));
  });

  it.each<[options: PublishOptions, more: string]>([
    [{ version: '0.2.0' }, '--tag latest'],
    [{ version: '0.2.0-rc.1' }, '--tag next'],
    [{ version: '0.2.0', tag: 'lts' }, '--tag lts'],
    [{ version: '0.2.0', provenance: true }, '--tag latest --provenance'],
    [{ version: '0.2.0', registry: 'http://127.0.0.1/' }, '--tag latest --registry http://127.0.0.1/'],
  ])('runs npm with %o', (options, more) => {
    expect(publishCommand('a.tgz', options).join(' ')).toBe(`publish a.tgz --access public ${more}`);
  });

  it('ends before it changes anything, if npm could not make the provenance', () => {
    const script = fileURLToPath(new URL('../../scripts/release.mjs', import.meta.url));
    const { PATH, HOME } = process.env;
    const args = [script, '99.0.0', '--apply', '--publish', '--provenance', '--registry', 'http://127.0.0.1:9/'];
    const { status, stdout } = spawnSync(process.execPath, args, { env: { PATH, HOME }, encoding: 'utf8' });
    expect(stdout).toContain('No release: provenance needs OIDC tokens of GitHub Actions or GitLab CI\n');
    expect(stdout).not.toMatch(/^(?!No release: )./m);
    expect(status).toBe(1);
  });
});
