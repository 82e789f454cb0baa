import { v1_0 } from '../../packages/parley/src/codec/v1_0/wire-codec.js';
import type { WireCodec } from '../../packages/parley/src/codec/wire-codec.js';
import type { OperationName } from '../../packages/parley/src/operations/operations.js';

/** A second version beside 1.0: names and routes of 0.3, the shapes of 1.0. Enough to see which version is spoken. */
export const oldCodec: WireCodec = {
  ...v1_0,
  version: '0.3',
  methods: new Map<string, OperationName>([
    ['message/send', 'sendMessage'],
    ['message/stream', 'sendStreamingMessage'],
    ['tasks/get', 'getTask'],
  ]),
  routes: [
    { operation: 'sendMessage', method: 'POST', path: ['v1', 'message:send'], body: 'required' },
    { operation: 'getTask', method: 'GET', path: ['v1', 'tasks', '{id}'], body: 'none' },
  ],
};
