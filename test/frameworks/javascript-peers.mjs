export const JAVASCRIPT_PEERS = [];
