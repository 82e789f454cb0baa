import Type from 'typebox';
import { mapOf, modelObject, NonEmpty } from './schema.js';

export type { OAuthFlows, SecurityRequirement, SecurityScheme } from './protocol-types.generated.js';

const scopes = mapOf(Type.String());
const described = { description: Type.Optional(Type.String()) };

const ApiKeySecuritySchemeSchema = modelObject('ApiKeySecurityScheme', {
  ...described,
  location: Type.Enum(['query', 'header', 'cookie']),
  name: NonEmpty,
});
const HttpAuthSecuritySchemeSchema = modelObject('HttpAuthSecurityScheme', {
  ...described,
  scheme: NonEmpty,
  bearerFormat: Type.Optional(Type.String()),
});
const AuthorizationCodeFlowSchema = modelObject('AuthorizationCodeOAuthFlow', {
  authorizationUrl: NonEmpty,
  tokenUrl: NonEmpty,
  refreshUrl: Type.Optional(Type.String()),
  scopes,
  pkceRequired: Type.Optional(Type.Boolean()),
});
const ClientCredentialsFlowSchema = modelObject('ClientCredentialsOAuthFlow', {
  tokenUrl: NonEmpty,
  refreshUrl: Type.Optional(Type.String()),
  scopes,
});
const ImplicitFlowSchema = modelObject('ImplicitOAuthFlow', {
  authorizationUrl: Type.Optional(Type.String()),
  refreshUrl: Type.Optional(Type.String()),
  scopes: Type.Optional(scopes),
});
const PasswordFlowSchema = modelObject('PasswordOAuthFlow', {
  tokenUrl: Type.Optional(Type.String()),
  refreshUrl: Type.Optional(Type.String()),
  scopes: Type.Optional(scopes),
});
const DeviceCodeFlowSchema = modelObject('DeviceCodeOAuthFlow', {
  deviceAuthorizationUrl: NonEmpty,
  tokenUrl: NonEmpty,
  refreshUrl: Type.Optional(Type.String()),
  scopes,
});

/** The OAuth 2 flow of a scheme (Spec §4.5.7). */
export const OAuthFlowsSchema = Type.Union(
  [
    modelObject('AuthorizationCodeFlow', { authorizationCode: AuthorizationCodeFlowSchema }),
    modelObject('ClientCredentialsFlow', { clientCredentials: ClientCredentialsFlowSchema }),
    modelObject('ImplicitFlow', { implicit: ImplicitFlowSchema }),
    modelObject('PasswordFlow', { password: PasswordFlowSchema }),
    modelObject('DeviceCodeFlow', { deviceCode: DeviceCodeFlowSchema }),
  ],
  { $id: 'OAuthFlows' },
);

const OAuth2SecuritySchemeSchema = modelObject('OAuth2SecurityScheme', {
  ...described,
  flows: OAuthFlowsSchema,
  oauth2MetadataUrl: Type.Optional(Type.String()),
});
const OpenIdConnectSecuritySchemeSchema = modelObject('OpenIdConnectSecurityScheme', {
  ...described,
  openIdConnectUrl: NonEmpty,
});
const MutualTlsSecuritySchemeSchema = modelObject('MutualTlsSecurityScheme', { ...described });

/** A way to authenticate (Spec §4.5.1). */
export const SecuritySchemeSchema = Type.Union(
  [
    modelObject('ApiKeyScheme', { apiKeySecurityScheme: ApiKeySecuritySchemeSchema }),
    modelObject('HttpAuthScheme', { httpAuthSecurityScheme: HttpAuthSecuritySchemeSchema }),
    modelObject('OAuth2Scheme', { oauth2SecurityScheme: OAuth2SecuritySchemeSchema }),
    modelObject('OpenIdConnectScheme', { openIdConnectSecurityScheme: OpenIdConnectSecuritySchemeSchema }),
    modelObject('MutualTlsScheme', { mtlsSecurityScheme: MutualTlsSecuritySchemeSchema }),
  ],
  { $id: 'SecurityScheme' },
);

const StringListSchema = modelObject('StringList', { list: Type.Optional(Type.Array(Type.String())) });

/** Schemes that apply together. A list of requirements is a choice (Spec §4.5). */
export const SecurityRequirementSchema = modelObject('SecurityRequirement', {
  schemes: Type.Optional(mapOf(StringListSchema)),
});
