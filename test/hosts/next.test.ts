import { testHost } from './test-host.js';

testHost('next');
