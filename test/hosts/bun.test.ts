import { testHost } from './test-host.js';
import { testWebhook } from './webhook.js';

testHost('bun', testWebhook);
