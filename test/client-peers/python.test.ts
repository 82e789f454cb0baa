import { testPeer } from './test-peer.js';

testPeer('Python SDK');
