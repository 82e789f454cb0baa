// The links of a page for language models.
import { useData, withBase } from 'vitepress';
import { defineComponent, h } from 'vue';

export const MarkdownLink = defineComponent(() => {
  const { page } = useData();
  // Without a target, VitePress looks for a page.
  const link = (path, text) => h('a', { href: withBase(`/${path}`), target: '_self' }, text);
  return () =>
    h('p', { class: 'markdown-link' }, [
      'For language models: ',
      link(page.value.relativePath, 'this page in Markdown'),
      ', ',
      link('llms.txt', 'all pages'),
      ', and ',
      link('skill/SKILL.md', 'a skill'),
      ' for the command line.',
    ]);
});
