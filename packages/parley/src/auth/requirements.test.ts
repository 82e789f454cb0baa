import { expect, it } from 'vitest';
import type { SecurityRequirement } from '../model/security-scheme.js';
import { ANONYMOUS, type Authenticator } from './authenticator.js';
import { optional, withRequirements } from './requirements.js';

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
