import { render } from 'preact';
import { loadAgents } from './agents.js';
import { App } from './app.js';

const root = document.getElementById('console');
if (root !== null) render(<App />, root);
void loadAgents();
