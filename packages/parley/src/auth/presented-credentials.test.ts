import { expect, it } from 'vitest';
import { PresentedCredentials } from './presented-credentials.js';

/** The header that came twice, as far as a host shows it that joins lines by a comma. */
function repeatedIn(authorization: string): string | undefined {
  const header = (name: string) => (name === 'authorization' ? authorization : undefined);
  const credentials = new PresentedCredentials({ method: 'GET', query: '', header });
  credentials.header('authorization');
  return credentials.repeated;
}

it.each([
  'Bearer a, Bearer a',
  'bearer a,Bearer b',
  'Bearer a, b',
  'Basic YTpi, Bearer a',
  'Digest username="ada", realm="x", Bearer a',
  'Digest username="ada", Digest username="eve"',
  'Custom a, Custom b',
  'Bearer ", Bearer a"',
  'Custom ", Bearer a',
  'Custom "\\", Bearer a',
])('two lines of Authorization are seen in %s', (joined) => {
  expect(repeatedIn(joined)).toBe('authorization');
});

it.each([
  'Bearer a.b-c_d~e+f/g==',
  'Basic YTpi',
  'Digest username="Doe, John Smith", realm="a, b c", uri="/x"',
  'Digest username="a \\", b c", nc=00000001',
  'AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host;date, Signature=c',
  'Signature keyId="a", headers="(request-target) date", signature="b=="',
  'DPoP eyJ.a.b',
])('one line is seen in %s', (single) => {
  expect(repeatedIn(single)).toBeUndefined();
});
