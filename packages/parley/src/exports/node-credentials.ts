export {
  type LoopbackRedirect,
  type LoopbackRedirectOptions,
  loopbackRedirect,
} from '../adapters/node/loopback-redirect.js';
export { type MutualTls, type MutualTlsOptions, mutualTls, type TlsIdentity } from '../adapters/node/mutual-tls.js';
