import { everyBinding } from './every-binding/every-binding.js';
import { MEMORY, SQLITE } from './every-binding/stores.js';

everyBinding(MEMORY);
everyBinding(SQLITE);
