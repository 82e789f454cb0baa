import { testPeer } from './test-peer.js';

testPeer('Python SDK 0.3');
