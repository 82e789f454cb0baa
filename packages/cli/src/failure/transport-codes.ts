/** Codes of protocol errors (Spec §5.4): the JSON-RPC number and the HTTP status. */
const CODES: Readonly<Record<string, readonly [jsonRpc: number, http: number]>> = {
  TASK_NOT_FOUND: [-32001, 404],
  TASK_NOT_CANCELABLE: [-32002, 400],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32003, 400],
  UNSUPPORTED_OPERATION: [-32004, 400],
  CONTENT_TYPE_NOT_SUPPORTED: [-32005, 400],
  INVALID_AGENT_RESPONSE: [-32006, 500],
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: [-32007, 400],
  EXTENSION_SUPPORT_REQUIRED: [-32008, 400],
  VERSION_NOT_SUPPORTED: [-32009, 400],
  PARSE_ERROR: [-32700, 400],
  INVALID_REQUEST: [-32600, 400],
  METHOD_NOT_FOUND: [-32601, 404],
  METHOD_NOT_ALLOWED: [-32600, 405],
  INVALID_PARAMS: [-32602, 400],
  INTERNAL_ERROR: [-32603, 500],
};

/** Returns the code of an error in a binding; `undefined` if it has none. Other bindings send the code itself. */
export function transportCode(code: string, binding: string): string | undefined {
  const [jsonRpc, http] = CODES[code] ?? [];
  if (jsonRpc === undefined) return undefined;
  if (binding === 'JSONRPC') return String(jsonRpc);
  return binding === 'HTTP+JSON' ? String(http) : code;
}
