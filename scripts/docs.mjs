// `npm run docs`: builds the site of the documents into site/dist. It needs no network once its packages are installed.
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { main, root, runOwn } from './processes.mjs';
import { installedBeside } from './suite-packages.mjs';
import { publishedFolders } from './workspaces.mjs';

const HELP = `npm run docs -- [options]

Builds the site of the documents into site/dist: a folder for the version, and a list of the versions there.

  --serve             serves it on this machine afterwards
  --version NAME      the version (default: that of the packages)
  --out FOLDER        another folder, which may hold other versions
  --root PATH         the path of that folder on its host (default: /)
  --repository URL    the repository, for links to files that are no pages (default: that of the GitHub workflow)
  --ref NAME          the branch or tag of these links (default: main)
  --help              shows this
`;

await main(async () => {
  const [, , ...args] = process.argv;
  if (args.includes('--help')) return void process.stdout.write(HELP);
  await ensureInstalled();
  await build(publishedFolders());
  if (!(await installedBeside(join(root, 'site'), 'The site is', { scripts: false }))) return 1;
  const { code } = await runOwn([join(root, 'site/build.mjs'), ...args]);
  return code;
});
