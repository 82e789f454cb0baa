import { testPeer } from './test-peer.js';

testPeer('Go SDK');
