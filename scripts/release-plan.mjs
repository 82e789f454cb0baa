// Decides what a release changes: pure functions, for scripts/release.mjs and its test.

/** A version as Semantic Versioning orders them: three numbers, and an identifier of a version before them. */
const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([a-z]+)\.(\d+))?$/;
const UNRELEASED = '## [Unreleased]';

/**
 * Plans a release. `manifests` are the texts of all `package.json` by path. Gives the new texts of the files that
 * change, by path, or the reasons why there is no release.
 */
export function planRelease({ version, day, manifests, changelog, isClean }) {
  const published = Object.values(manifests)
    .map((text) => JSON.parse(text))
    .filter((manifest) => manifest.private !== true);
  const [{ version: current }] = published;
  const entries =
    changelog
      .split(UNRELEASED)[1]
      ?.split(/^## \[/m)[0]
      ?.trim() ?? '';
  const isVersion = VERSION.test(version);
  const problems = [
    ...(isVersion ? [] : [`${version} is no version: 1.2.3 and 1.2.3-rc.1 are`]),
    ...(isVersion && !isAfter(version, current) ? [`${version} is not after ${current}`] : []),
    ...(published.every((one) => one.version === current) ? [] : ['the packages have several versions']),
    ...(entries === '' ? ['CHANGELOG.md has no entry under Unreleased'] : []),
    ...(isClean ? [] : ['there are changes that are not committed']),
  ];
  if (problems.length > 0) return { problems, files: {} };
  const names = published.map(({ name }) => name);
  const changed = Object.entries(manifests).map(([path, text]) => [path, released(text, { names, current, version })]);
  const files = Object.fromEntries(changed.filter(([path, text]) => text !== manifests[path]));
  files['CHANGELOG.md'] = changelog.replace(UNRELEASED, `${UNRELEASED}\n\n## [${version}] - ${day}`);
  return { problems, files };
}

/** Arguments of npm that publish the packed file of a package. */
export function publishCommand(file, { version, tag, provenance, registry }) {
  return [
    ...['publish', file, '--access', 'public', '--tag', tag ?? (version.includes('-') ? 'next' : 'latest')],
    ...(provenance ? ['--provenance'] : []),
    ...(registry === undefined ? [] : ['--registry', registry]),
  ];
}

/** Arguments of npm that withdraw a version of a package: installing it warns with the reason. */
export function withdrawCommand(name, { version, reason, registry }) {
  return ['deprecate', `${name}@${version}`, reason, ...(registry === undefined ? [] : ['--registry', registry])];
}

/** The reasons why npm cannot state where packages are built. It would give them after some were published. */
export function provenanceProblems({ manifests, env }) {
  const hasToken =
    (env.GITHUB_ACTIONS !== undefined && env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined) ||
    (env.GITLAB_CI !== undefined && env.SIGSTORE_ID_TOKEN !== undefined);
  const homeless = manifests.filter(({ repository }) => repository === undefined).map(({ name }) => name);
  return [
    ...(hasToken ? [] : ['provenance needs OIDC tokens of GitHub Actions or GitLab CI']),
    ...(homeless.length === 0 ? [] : [`provenance needs "repository" in package.json of ${homeless.join(', ')}`]),
  ];
}

/** The reasons why a commit with these tags is not published as a version. */
export function publishProblems({ version, tags, isClean }) {
  return [
    ...(isClean ? [] : ['there are changes that are not committed']),
    ...(tags.includes(`v${version}`) ? [] : [`the commit has no tag v${version}`]),
  ];
}

/** A manifest with the new version of its package, if that is published, and of those that it needs. */
function released(text, { names, current, version }) {
  const { name } = JSON.parse(text);
  let changed = names.includes(name) ? text.replace(`"version": "${current}"`, `"version": "${version}"`) : text;
  for (const needed of names) changed = changed.replaceAll(`"${needed}": "${current}"`, `"${needed}": "${version}"`);
  return changed;
}

function isAfter(version, other) {
  const [one, two] = [version, other].map((text) => VERSION.exec(text) ?? []);
  for (const at of [1, 2, 3]) if (one[at] !== two[at]) return Number(one[at]) > Number(two[at]);
  const [label, last] = [one[4] ?? '~', two[4] ?? '~'];
  return label === last ? Number(one[5] ?? 0) > Number(two[5] ?? 0) : label > last;
}
