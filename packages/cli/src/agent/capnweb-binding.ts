import { capnwebTransport } from 'parley-a2a/capnweb';
import type { ClientBinding } from 'parley-a2a/client';

/** The binding for `--transport capnweb`. */
export function capnwebBindingOf(): ClientBinding {
  return capnwebTransport();
}
