import { render } from 'preact';
import { loadAgents } from './agents.js';
import { App } from './app.js';
import { isReturn } from './oauth-login.js';
import { Returned } from './views/returned.js';

const root = document.getElementById('console');
if (root !== null && isReturn()) render(<Returned />, root);
else if (root !== null) {
  render(<App />, root);
  void loadAgents();
}
