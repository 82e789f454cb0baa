import { describe, expect, it } from 'vitest';

interface Release {
  readonly version: string;
  readonly day: string;
  readonly manifests: Readonly<Record<string, string>>;
  readonly changelog: string;
  readonly isClean: boolean;
}

const module: string = new URL('../../scripts/release-plan.mjs', import.meta.url).href;
const { planRelease } = (await import(module)) as {
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
