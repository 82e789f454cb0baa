import { expect, it } from 'vitest';
import { Settings } from '../settings/settings.js';
import { TRANSPORTS } from './bindings.js';

it('a gRPC client has no idle timeout, because pings detect lost connections', async () => {
  const grpc = TRANSPORTS.find(({ binding }) => binding === 'GRPC');
  expect(await grpc?.load?.(new Settings([], []))).toMatchObject({
    findsLostConnections: true,
    opensStreamsLate: true,
  });
});
