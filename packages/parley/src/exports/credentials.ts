export type {
  CredentialProvider,
  CredentialRefusal,
  CredentialTarget,
  RequestCredentials,
} from '../auth/credential-provider.js';
export { type ApiKeyOptions, type ApiKeyPlace, apiKey } from '../auth/credentials/api-key.js';
export { type BasicOptions, basic } from '../auth/credentials/basic.js';
export { bearerToken } from '../auth/credentials/bearer-token.js';
export type { CredentialKind, SchemeNeed, SchemeProof } from '../auth/credentials/credential-kind.js';
export { combinedCredentials, SchemeCredentials } from '../auth/credentials/scheme-credentials.js';
export type { Secret } from '../auth/credentials/secret.js';
export { CredentialsError, type CredentialsFault } from '../errors/credentials-error.js';
