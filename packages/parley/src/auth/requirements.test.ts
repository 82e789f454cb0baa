import { expect, it } from 'vitest';
import type { SecurityRequirement } from '../model/security-scheme.js';
import { ANONYMOUS, type Authenticator } from './authenticator.js';
import { optional, requirementsOf, withRequirements } from './requirements.js';

const authenticator: Authenticator = { challenges: ['Bearer'], authenticate: () => ANONYMOUS };
const bearer: SecurityRequirement = { schemes: { bearer: {} } };

it.each<[string, readonly SecurityRequirement[], true | undefined]>([
  ['no requirement', [], true],
  ['a requirement', [bearer], undefined],
  ['a requirement, or none', [bearer, { schemes: {} }], true],
])('with %s, anonymous callers of an optional authenticator pass: %s', (_, requirements, isOptional) => {
  expect(withRequirements(optional(authenticator), requirements).optional || undefined).toBe(isOptional);
  expect(withRequirements(authenticator, requirements).optional || undefined).toBeUndefined();
});

it('without requirements of its own, an authenticator requires one of its schemes', () => {
  const securitySchemes = { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } }, key: { mtlsSecurityScheme: {} } };
  const given = { ...authenticator, securitySchemes };
  const each = [bearer, { schemes: { key: {} } }];
  expect(requirementsOf(authenticator)).toEqual([]);
  expect(requirementsOf(given)).toEqual(each);
  expect(requirementsOf(optional(given))).toEqual([...each, { schemes: {} }]);
  expect(requirementsOf(optional({ ...given, securityRequirements: [{}] }))).toEqual([{}]);
});

it('an authenticator with other requirements keeps the rest', () => {
  const full: Authenticator = {
    ...authenticator,
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    protectedResource: { authorizationServers: ['https://login.example'], scopes: [] },
    needsClientCertificate: true,
  };
  const { authenticate: _own, ...kept } = withRequirements(full, [bearer]);
  const { authenticate: _other, ...members } = full;
  expect(kept).toEqual({ ...members, securityRequirements: [bearer], optional: false });
});
