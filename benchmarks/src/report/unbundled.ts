// Lets a profiled process load the compiled files of the library one by one: a profile then names their rooms.
import { registerHooks } from 'node:module';

const LIBRARY = /^parley-a2a(?:\/([\w-]+))?$/;

registerHooks({
  resolve(specifier, context, next) {
    const found = LIBRARY.exec(specifier);
    if (found === null) return next(specifier, context);
    const place = `../../../packages/parley/dist/exports/${found[1] ?? 'index'}.js`;
    return next(new URL(place, import.meta.url).href, context);
  },
});
