/**
 * The beginning of the paths of this library and of the packages beside it. Undefined if it is bundled into a program:
 * its frames are then those of the program.
 */
const [, HOME] = /^file:\/\/(.*\/(?:node_modules\/parley-a2a|packages\/(?=parley\/)))/.exec(import.meta.url) ?? [];

/** The end of a frame with a place, such as `at file:///agent.js:3:1`. */
const PLACE = /:\d+:\d+\)?$/;
/** The frames of a call of the client, from its request to the line of the caller. */
const MOST_FRAMES = 50;

/**
 * Leaves the frames of the library out of the beginning of a stack, so that it begins with the line of the caller. A
 * stack without such a line stays as it is. Call it where the error is made.
 */
export function beginAtCaller<Made extends Error>(error: Made): Made {
  if (HOME === undefined) return error;
  const { stack = '' } = error;
  const { stackTraceLimit } = Error;
  // A host with frozen built-ins keeps its limit.
  Reflect.set(Error, 'stackTraceLimit', MOST_FRAMES);
  Error.captureStackTrace(error);
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  const lines = String(error.stack).split('\n');
  const first = lines.findIndex((line) => line.startsWith('    at '));
  const caller = lines.findIndex(
    (line) => line.startsWith('    at ') && PLACE.test(line) && !line.includes('node:') && !line.includes(HOME),
  );
  lines.splice(first, caller - first);
  error.stack = caller < 0 ? stack : lines.slice(0, first + stackTraceLimit).join('\n');
  return error;
}
