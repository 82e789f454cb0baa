import type { ClientBinding } from 'parley-a2a/client';
import { capnwebTransport } from 'parley-a2a-capnweb';

/** The binding for `--transport capnweb`. */
export function capnwebBindingOf(): ClientBinding {
  return capnwebTransport();
}
