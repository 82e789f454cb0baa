import { DefaultChatTransport } from 'ai';
import { type A2AChatMessage, a2aChatTransport } from 'parley-a2a-ai-sdk';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ChatPage } from './chat.js';

const root = document.querySelector<HTMLElement>('#root');
if (root === null) throw new Error('The page has no #root');

// The url of an agent that the page may call, or none: then the server of the page calls it.
const { agent } = root.dataset;
const transport =
  agent === undefined
    ? new DefaultChatTransport<A2AChatMessage>({ api: '/api/chat' })
    : // A real application stores `places`, the tasks of its chats, beside their messages.
      a2aChatTransport(agent);

const id = sessionStorage.getItem('chat') ?? crypto.randomUUID();
sessionStorage.setItem('chat', id);
// A server cannot distinguish a stop from a reload, so a stop needs a request.
const cancel = () => fetch(`/api/chat/${id}/stream`, { method: 'DELETE' });

createRoot(root).render(
  <StrictMode>
    <ChatPage id={id} transport={transport} {...(agent === undefined && { cancel })} />
  </StrictMode>,
);
