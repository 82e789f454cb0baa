import type { AgentCard } from 'parley-a2a';
import { type Client, type ConnectOptions, connect, FILES_EXTENSION } from 'parley-a2a/client';

/** A client of an agent whose files are on a server. */
export function clientAt(url: string, options: ConnectOptions = {}): Promise<Client> {
  return connect(cardAt(url), options);
}

/** The card of an agent whose files are on a server. */
export function cardAt(url: string, maxBytes?: number): AgentCard {
  return {
    name: 'Files',
    description: '',
    version: '1',
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {
      extensions: [{ uri: FILES_EXTENSION, params: { url: `${url}/files`, ...(maxBytes && { maxBytes }) } }],
    },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
}
