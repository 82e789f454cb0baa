import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { packageSources } from '../init/package-sources.js';
import { projectFiles } from '../init/project-files.js';
import type { ProjectTemplate } from '../init/project-template.js';
import { TEMPLATE_NAMES } from '../init/template-names.js';
import { TEMPLATES } from '../init/templates.js';
import { shellWord } from '../task/shell-word.js';

/** Writes a project with an agent that runs. */
export async function run({ args: [folder = '.'], settings, output }: Invocation): Promise<number> {
  const place = resolve(folder);
  const name = settings.text('name') ?? packageName(basename(place));
  const template = templateOf(settings.text('template') ?? 'minimal');
  const sources = packageSources(template.packages);
  const files = projectFiles({ name, template, sources });
  if (!settings.isOn('force')) {
    const taken = existsSync(place) ? readdirSync(place).filter((file) => file in files) : [];
    if (taken.length > 0) throw usageError(`${folder} already has ${taken.join(', ')}`, '--force overwrites');
  }
  mkdirSync(place, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text);
  if (output.json) {
    output.document({ folder: place, files: Object.keys(files) });
    return 0;
  }
  output.field('Project', place);
  for (const file of Object.keys(files)) output.field('File', file);
  const enter = folder === '.' ? '' : `cd ${/^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)} && `;
  const pack = sources.unpacked === undefined ? '' : `npm --prefix ${shellWord(sources.unpacked)} run pack && `;
  output.field('Next', `${pack}${enter}npm install && npm start`);
  return 0;
}

function templateOf(wanted: string): ProjectTemplate {
  const name = TEMPLATE_NAMES.find((one) => one === wanted);
  if (name === undefined)
    throw usageError(`there is no template "${wanted}"`, `it is one of ${TEMPLATE_NAMES.join(', ')}`);
  return TEMPLATES[name];
}

function packageName(folder: string): string {
  return (
    folder
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replace(/^[._-]+|(?<!-)-+$/g, '') || 'agent'
  );
}
