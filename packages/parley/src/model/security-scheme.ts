import Type from 'typebox';
import { closed, mapOf, NonEmpty } from './schema.js';

export type { OAuthFlows, SecurityRequirement, SecurityScheme } from './protocol-types.generated.js';

const scopes = mapOf(Type.String());
const described = { description: Type.Optional(Type.String()) };

const ApiKeySecuritySchemeSchema = closed('ApiKeySecurityScheme', {
  ...described,
  location: Type.Enum(['query', 'header', 'cookie']),
  name: NonEmpty,
});
const HttpAuthSecuritySchemeSchema = closed('HttpAuthSecurityScheme', {
  ...described,
  scheme: NonEmpty,
  bearerFormat: Type.Optional(Type.String()),
});
const AuthorizationCodeFlowSchema = closed('AuthorizationCodeOAuthFlow', {
  authorizationUrl: NonEmpty,
  tokenUrl: NonEmpty,
  refreshUrl: Type.Optional(Type.String()),
  scopes,
  pkceRequired: Type.Optional(Type.Boolean()),
});
const ClientCredentialsFlowSchema = closed('ClientCredentialsOAuthFlow', {
  tokenUrl: NonEmpty,
  refreshUrl: Type.Optional(Type.String()),
  scopes,
});
const ImplicitFlowSchema = closed('ImplicitOAuthFlow', {
  authorizationUrl: Type.Optional(Type.String()),
  refreshUrl: Type.Optional(Type.String()),
  scopes: Type.Optional(scopes),
});
const PasswordFlowSchema = closed('PasswordOAuthFlow', {
  tokenUrl: Type.Optional(Type.String()),
  refreshUrl: Type.Optional(Type.String()),
  scopes: Type.Optional(scopes),
});
const DeviceCodeFlowSchema = closed('DeviceCodeOAuthFlow', {
  deviceAuthorizationUrl: NonEmpty,
  tokenUrl: NonEmpty,
  refreshUrl: Type.Optional(Type.String()),
  scopes,
});

/** The OAuth 2 flow of a scheme (Spec §4.5.7). */
export const OAuthFlowsSchema = Type.Union(
  [
    closed('AuthorizationCodeFlow', { authorizationCode: AuthorizationCodeFlowSchema }),
    closed('ClientCredentialsFlow', { clientCredentials: ClientCredentialsFlowSchema }),
    closed('ImplicitFlow', { implicit: ImplicitFlowSchema }),
    closed('PasswordFlow', { password: PasswordFlowSchema }),
    closed('DeviceCodeFlow', { deviceCode: DeviceCodeFlowSchema }),
  ],
  { $id: 'OAuthFlows' },
);

const OAuth2SecuritySchemeSchema = closed('OAuth2SecurityScheme', {
  ...described,
  flows: OAuthFlowsSchema,
  oauth2MetadataUrl: Type.Optional(Type.String()),
});
const OpenIdConnectSecuritySchemeSchema = closed('OpenIdConnectSecurityScheme', {
  ...described,
  openIdConnectUrl: NonEmpty,
});
const MutualTlsSecuritySchemeSchema = closed('MutualTlsSecurityScheme', { ...described });

/** A way to authenticate (Spec §4.5.1). */
export const SecuritySchemeSchema = Type.Union(
  [
    closed('ApiKeyScheme', { apiKeySecurityScheme: ApiKeySecuritySchemeSchema }),
    closed('HttpAuthScheme', { httpAuthSecurityScheme: HttpAuthSecuritySchemeSchema }),
    closed('OAuth2Scheme', { oauth2SecurityScheme: OAuth2SecuritySchemeSchema }),
    closed('OpenIdConnectScheme', { openIdConnectSecurityScheme: OpenIdConnectSecuritySchemeSchema }),
    closed('MutualTlsScheme', { mtlsSecurityScheme: MutualTlsSecuritySchemeSchema }),
  ],
  { $id: 'SecurityScheme' },
);

const StringListSchema = closed('StringList', { list: Type.Optional(Type.Array(Type.String())) });

/** Schemes that apply together. A list of requirements is a choice (Spec §4.5). */
export const SecurityRequirementSchema = closed('SecurityRequirement', {
  schemes: Type.Optional(mapOf(StringListSchema)),
});
