import { existsSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ownSourceOf } from './own-sources.mjs';

// Loaded before the tests in their process, where Node.js itself imports the sources. It removes their types, and
// keeps what it has compiled: the next process loads the library in a fifth of the time.

enableCompileCache(fileURLToPath(new URL('../../.cache/compiled', import.meta.url)));

/** The source of an own package, or of a file that is named by what it will be built to. */
function sourceOf(specifier, importer) {
  if (importer.includes('/node_modules/')) return undefined;
  if (/^\.{1,2}\/.*\.js$/.test(specifier)) {
    const source = new URL(specifier.replace(/js$/, 'ts'), importer);
    return existsSync(source) ? source.href : undefined;
  }
  const own = ownSourceOf(specifier);
  return own && pathToFileURL(own).href;
}

registerHooks({
  resolve(specifier, context, next) {
    const url = sourceOf(specifier, context.parentURL ?? '');
    return url === undefined ? next(specifier, context) : { url, format: 'module-typescript', shortCircuit: true };
  },
});
