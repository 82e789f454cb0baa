// The folders of the site.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = fileURLToPath(new URL('.', import.meta.url));
export const cache = join(here, '.cache');
/** The Markdown of all pages, as VitePress reads it. */
export const pagesFolder = join(cache, 'pages');
/** The build writes it for the configuration of VitePress. */
export const readingFile = join(cache, 'site.json');
