export {
  type LoopbackRedirect,
  type LoopbackRedirectOptions,
  loopbackRedirect,
} from '../adapters/node/loopback-redirect.js';
