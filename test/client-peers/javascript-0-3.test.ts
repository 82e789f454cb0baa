import { testPeer } from './test-peer.js';

testPeer('JavaScript SDK 0.3');
