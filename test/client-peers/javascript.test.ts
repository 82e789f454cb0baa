import { testPeer } from './test-peer.js';

testPeer('JavaScript SDK');
