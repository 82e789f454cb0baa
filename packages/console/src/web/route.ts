import { signal } from '@preact/signals';

/** The pages of an agent. */
export type PageName = 'chat' | 'tasks' | 'card' | 'wire' | 'inbox' | 'compare';

/** The pages that belong to no agent. */
type SharedPage = 'agents' | 'waiting' | 'operator';

/** The current page. */
export type Route =
  | { readonly page: SharedPage }
  | {
      readonly page: PageName;
      /** The path of the agent on its server. */
      readonly agent: string;
      /** The conversation or the task. Absent: the page as a whole. */
      readonly id?: string;
    };

const PAGES: readonly PageName[] = ['chat', 'tasks', 'card', 'wire', 'inbox', 'compare'];
const SHARED: readonly SharedPage[] = ['waiting', 'operator'];

/** The route of a fragment, such as `#/agent/%2Fecho/tasks/1`. */
export function routeOf(fragment: string): Route {
  const [, root, path, page, id] = fragment.split('/');
  const name = PAGES.find((one) => one === page);
  if (root !== 'agent' || path === undefined) return { page: SHARED.find((one) => one === root) ?? 'agents' };
  const agent = decode(path);
  const part = id === undefined || id === '' ? undefined : decode(id);
  return { page: name ?? 'chat', agent, ...(part !== undefined && { id: part }) };
}

/** The fragment of a route. */
export function fragmentOf(route: Route): string {
  if (!('agent' in route)) return route.page === 'agents' ? '#/' : `#/${route.page}`;
  const { page, agent, id } = route;
  return `#/agent/${encodeURIComponent(agent)}/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The current route. */
export const route = signal<Route>(routeOf(location.hash));

addEventListener('hashchange', () => {
  route.value = routeOf(location.hash);
});

/** Navigates to a page, as a link does. */
export function goTo(place: Route): void {
  location.hash = fragmentOf(place);
}

/** Navigates to a page without an entry in the history. */
export function replaceRoute(place: Route): void {
  history.replaceState(null, '', fragmentOf(place));
  route.value = place;
}
