import type { SocketPort } from 'parley-a2a/binding-kit';

/** A WebSocket of a client. */
export interface ClientSocket extends SocketPort {
  /** Lets the process end although the socket is open, until `ref`. Absent: the host cannot. */
  unref?(): void;
  ref?(): void;
}
