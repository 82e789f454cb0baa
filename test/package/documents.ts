import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { snippetsOf } from '../docs/snippets.js';
import { repository } from './packed.js';

const documents = [
  'README.md',
  'packages/parley/README.md',
  ...readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((path) => path.endsWith('.md'));

/** A name that a document imports from the package. */
export interface DocumentedImport {
  readonly document: string;
  readonly specifier: string;
  readonly name: string;
  readonly type: boolean;
}

/** All of them, from every TypeScript block of every document. */
export const documentedImports: readonly DocumentedImport[] = documents.flatMap((document) =>
  snippetsOf(document, readFileSync(join(repository, document), 'utf8')).flatMap(({ code }) =>
    Array.from(code.matchAll(/^import (type )?\{([^}]*)\} from '(parley-a2a(?:\/[\w/-]+)?)'/gm)).flatMap(
      ([, typeOnly, names = '', specifier = '']) =>
        names.split(',').flatMap((entry) => {
          const [, type, name] = /^\s*(type )?(\w+)/.exec(entry) ?? [];
          return name === undefined ? [] : [{ document, specifier, name, type: (typeOnly ?? type) !== undefined }];
        }),
    ),
  ),
);

/** The agent of the README, as a reader would copy it. */
export function readmeAgent(): string {
  const code = snippetsOf('README.md', readFileSync(join(repository, 'README.md'), 'utf8'))[0]?.code;
  if (code === undefined) throw new Error('README.md shows no agent');
  return code;
}
