// The links of a page for language models.
import { useData, withBase } from 'vitepress';
import { defineComponent, h } from 'vue';

export const MarkdownLink = defineComponent(() => {
  const { page } = useData();
  return () =>
    h('p', { class: 'markdown-link' }, [
      'For language models: ',
      h('a', { href: withBase(`/${page.value.relativePath}`), target: '_self' }, 'this page in Markdown'),
      ', ',
      h('a', { href: withBase('/llms.txt'), target: '_self' }, 'llms.txt'),
    ]);
});
