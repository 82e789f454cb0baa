// The version of the site, and the way to the others.
import { useData } from 'vitepress';
import { defineComponent, h, onMounted, ref } from 'vue';

export const VersionMenu = defineComponent(() => {
  const { theme, page } = useData();
  const { current, root } = theme.value.versions;
  const versions = ref([current]);
  onMounted(async () => {
    const response = await fetch(`${root}versions.json`);
    if (response.ok) versions.value = await response.json();
  });
  /** Opens the same page of another version, or its first page if its list of pages has no such page. */
  const open = async (version) => {
    const there = `${root}${version}/`;
    const { relativePath } = page.value;
    const pages = await (await fetch(`${there}llms.txt`)).text();
    location.assign(pages.includes(`](${relativePath})`) ? `${there}${relativePath.replace(/md$/, 'html')}` : there);
  };
  return () =>
    h(
      'select',
      { class: 'version-menu', 'aria-label': 'Version', onChange: ({ target }) => open(target.value) },
      versions.value.map((version) => h('option', { value: version, selected: version === current }, version)),
    );
});
