/**
 * The beginning of the paths of this library and of the packages beside it. Undefined if it is bundled into a program:
 * its frames are then those of the program.
 */
const [, HOME] = /^file:\/\/(.*\/(?:node_modules\/parley-a2a|packages\/(?=parley\/)))/.exec(import.meta.url) ?? [];

/** Matches a frame with a place, such as `at file:///agent.js:3:1`. */
const FRAME = /^ {4}at .*:\d+:\d+\)?$/;

/**
 * Leaves the frames of the library out of the beginning of a stack, so that it begins with the line of the caller. A
 * stack without such a line stays as it is.
 */
export function beginAtCaller(error: Error): void {
  const lines = error.stack?.split('\n') ?? [];
  const first = lines.findIndex((line) => line.startsWith('    at '));
  const caller = lines.findIndex((line) => FRAME.test(line) && !line.includes('node:') && !isOwn(line));
  if (first >= 0 && caller > first) error.stack = [...lines.slice(0, first), ...lines.slice(caller)].join('\n');
}

function isOwn(frame: string): boolean {
  return HOME === undefined || frame.includes(HOME);
}
