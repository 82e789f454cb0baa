/** The binding of interfaces that serve a Cap'n Web session over a WebSocket. A breaking change takes a new URI. */
export const CAPNWEB_BINDING = 'https://parley-a2a.dev/bindings/capnweb/v1';
/** The binding of interfaces that serve batches of Cap'n Web over HTTP POST. */
export const CAPNWEB_BATCH_BINDING = 'https://parley-a2a.dev/bindings/capnweb-batch/v1';
/** The name of the binding in logs, metrics, audit records and cards of 0.3. */
export const CAPNWEB_NAME = 'CAPNWEB';
