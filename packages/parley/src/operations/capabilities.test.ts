import { describe, expect, it } from 'vitest';
import { requireCapabilities } from './capabilities.js';
import { OPERATIONS, type OperationName } from './operations.js';

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } as const;
const ALL = { streaming: true, pushNotifications: true, extendedAgentCard: true };
const CODES = {
  streaming: 'UNSUPPORTED_OPERATION',
  pushNotifications: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  extendedAgentCard: 'UNSUPPORTED_OPERATION',
};

describe.each(Object.keys(OPERATIONS) as OperationName[])('%s', (name) => {
  const call = (capabilities: object) => () => requireCapabilities(name, { message } as never, capabilities);

  it('needs the capability of its row, true and not merely there (Spec §3.3.4)', () => {
    const needed = OPERATIONS[name].capability;
    expect(call(ALL)).not.toThrow();
    if (needed === undefined) return expect(call({})).not.toThrow();
    expect(call({ ...ALL, [needed]: false })).toThrow(expect.objectContaining({ code: CODES[needed] }));
    expect(call({})).toThrow(expect.objectContaining({ code: CODES[needed] }));
  });
});

it.each(['sendMessage', 'sendStreamingMessage'] as const)(
  '%s with a push configuration needs push notifications (REC 18)',
  (name) => {
    const request = { message, configuration: { taskPushNotificationConfig: { url: 'https://x.example' } } };
    const refused = expect.objectContaining({ code: 'PUSH_NOTIFICATION_NOT_SUPPORTED' });
    expect(() => requireCapabilities(name, request, { streaming: true })).toThrow(refused);
    expect(() => requireCapabilities(name, request, ALL)).not.toThrow();
  },
);
