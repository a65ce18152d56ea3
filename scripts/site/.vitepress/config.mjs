import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';

// The Markdown files of the repository, as they are, as a site: `npm run site`.
const root = join(import.meta.dirname, '../../..');
const client = ['docs', 'docs/client', 'packages/client', 'packages/react'];
const folders = [...client, 'docs/operations', 'docs/development', 'docs/security'];
const { GITHUB_REPOSITORY: repository } = process.env;

/** `docs/client/errors.ko.md` is `/ko/client/errors`. */
function pageOf(path) {
  const page = path.replace(/^docs\//, '').replace(/README(?=(\.ko)?\.md$)/, 'index');
  return page.endsWith('.ko.md') ? `ko/${page.replace('.ko.md', '.md')}` : page;
}

/** Draws diagrams (see the theme), has braces in code, and finds pages by their files. */
function asOnGitHub(md) {
  const { rules } = md.renderer;
  const { fence, link_open: link } = rules;
  const textOf = (token) => md.utils.escapeHtml(token.content);
  rules.fence = (tokens, index, ...rest) =>
    tokens[index].info === 'mermaid'
      ? `<pre class="mermaid" v-pre>${textOf(tokens[index])}</pre>`
      : fence(tokens, index, ...rest);
  rules.code_inline = (tokens, index) => `<code v-pre>${textOf(tokens[index])}</code>`;
  rules.link_open = (tokens, index, options, env, self) => {
    const [, path, anchor = ''] = /^([^#]*)(#.*)?$/.exec(tokens[index].attrGet('href'));
    if (path !== '' && !/^\w+:/.test(path)) {
      const target = join(dirname(relative(root, env.realPath ?? env.path)), path);
      const page = existsSync(join(root, target, 'README.md')) ? join(target, 'README.md') : target;
      const source = repository ? `https://github.com/${repository}/blob/main/${target}` : '#';
      tokens[index].attrSet('href', page.endsWith('.md') ? `/${pageOf(page)}${decodeURI(anchor)}` : source);
    }
    return link(tokens, index, options, env, self);
  };
}

/** A page without a Korean version is there in English. */
function sidebar(language) {
  return folders.map((folder) => {
    const names = readdirSync(join(root, folder)).filter((name) => /(?<!\.ko)\.md$/.test(name));
    const items = names.sort().map((name) => {
      const korean = join(folder, name.replace(/md$/, 'ko.md'));
      const path = language === 'ko' && existsSync(join(root, korean)) ? korean : join(folder, name);
      const [, text] = /^# (.*)$/m.exec(readFileSync(join(root, path), 'utf8'));
      return { text, link: `/${pageOf(path).replace(/(index)?\.md$/, '')}` };
    });
    return { text: folder, items, collapsed: !client.includes(folder) };
  });
}

export default defineConfig({
  title: 'Dure',
  srcDir: root,
  srcExclude: ['**/node_modules/**', '.github/**', 'build/**', 'dist/**', '.data/**'],
  outDir: 'build',
  cacheDir: 'build/.cache',
  rewrites: pageOf,
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  locales: {
    root: { label: 'English', lang: 'en', themeConfig: { sidebar: sidebar('en') } },
    ko: { label: '한국어', lang: 'ko', link: '/ko/client/', themeConfig: { sidebar: sidebar('ko') } },
  },
  themeConfig: { search: { provider: 'local' }, i18nRouting: false },
  markdown: { config: asOnGitHub, anchor: { slugify: slug } },
  // The pages are outside of this folder.
  vite: { resolve: { alias: { vue: join(import.meta.dirname, '../node_modules/vue') } } },
});
