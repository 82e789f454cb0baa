import { effect, signal } from '@preact/signals';

/** The themes. `auto` follows the system. */
export const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const KEY = 'parley-console:theme';

/** The theme that the user has chosen. */
export const theme = signal<Theme>(THEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'auto');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(KEY, theme.value);
});
