import mermaid from '@mermaid-js/tiny?url';
import { useRoute } from 'vitepress';
import theme from 'vitepress/theme';
import { nextTick, onMounted, watch } from 'vue';

/** Draws the diagrams of a page. The script is no module. */
async function draw() {
  await nextTick();
  const nodes = document.querySelectorAll('pre.mermaid:not([data-processed])');
  if (nodes.length === 0) return;
  const script = Object.assign(document.createElement('script'), { src: mermaid });
  const run = () => globalThis.mermaid.run({ nodes });
  if (globalThis.mermaid) await run();
  else document.head.append(Object.assign(script, { onload: run }));
}

export default {
  extends: theme,
  setup() {
    const route = useRoute();
    onMounted(() => watch(() => route.path, draw, { immediate: true }));
  },
};
