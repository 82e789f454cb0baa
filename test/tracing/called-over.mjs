/** The card of the agent at a url, with its interfaces of one binding. */
export async function calledOver(url, binding) {
  const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
  const isOver = (one) => one.protocolBinding === binding && one.protocolVersion === '1.0';
  const supportedInterfaces = card.supportedInterfaces.filter(isOver);
  if (supportedInterfaces.length === 0) throw new Error(`${url} lists no ${binding}`);
  return { ...card, supportedInterfaces };
}
