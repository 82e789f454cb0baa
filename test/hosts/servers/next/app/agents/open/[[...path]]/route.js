import { handlers } from '../../../../handlers.js';

export const {
  fetch: GET,
  fetch: HEAD,
  fetch: POST,
  fetch: PUT,
  fetch: PATCH,
  fetch: DELETE,
  fetch: OPTIONS,
} = handlers.open;
