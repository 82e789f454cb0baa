import { calls } from 'calls';

const told = await calls(await (await fetch('/task')).json()).catch(({ stack }) => ({ failed: stack }));
await fetch('/told', { method: 'POST', body: JSON.stringify(told) });
