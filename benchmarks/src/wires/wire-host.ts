import { WIRE_WORKS, type WireWork } from './wire-rows.js';

/** The work that this process was started for. */
export function workArgument(): WireWork {
  const found = WIRE_WORKS.find((known) => known === process.argv[2]);
  if (found === undefined) throw new TypeError(`${process.argv[2]} is no work of a wire`);
  return found;
}
