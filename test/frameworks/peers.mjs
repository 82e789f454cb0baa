// All peers: their package and version, their ways, and the start of their driver.
import { JAVASCRIPT_PEERS } from './javascript-peers.mjs';
import { PYTHON_PEERS } from './python-peers.mjs';

export const peers = [...PYTHON_PEERS, ...JAVASCRIPT_PEERS];
