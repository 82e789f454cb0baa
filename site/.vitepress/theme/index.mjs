// The theme of VitePress with fonts of the system, a menu of versions, and the Markdown of each page.
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import { MarkdownLink } from './markdown-link.mjs';
import { VersionMenu } from './version-menu.mjs';
import './style.css';

const theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-before': () => h(VersionMenu),
      'nav-screen-content-after': () => h(VersionMenu),
      'doc-footer-before': () => h(MarkdownLink),
    }),
};

export { theme as default };
