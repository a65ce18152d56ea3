import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createClient, isApiError } from '@dure/client';

/*
 * The page of a shared post, with the title of the post for guests and for the previews of KakaoTalk and others, which run no
 * scripts. The service shows posts to accounts only, so the host reads the title with an account of its own, without a store.
 *
 * npm run share [folder]: serves /posts/<id> behind the host of the other files, see README.md
 */

/** In milliseconds. */
const minute = 60_000;
const mostTitles = 1_000;

/**
 * Makes a function that adds the title to the page of a post, and leaves all other pages as they are.
 *
 * @param {{ apiUrl: string, account: Account, signUp?: { name: string, email: string } }} options With `signUp`, the account is
 *   created where there is none, for development. Without an account, no page has a title.
 * @typedef {{ username: string | undefined, password: string | undefined }} Account
 */
export function createSharedPages({ apiUrl, account, signUp }) {
  // A page waits for it.
  const dure = createClient({ baseUrl: apiUrl, timeout: 3_000, retries: 0 });
  const titles = new Map();
  let login;

  async function logIn() {
    try {
      await dure.auth.logIn(account);
    } catch (error) {
      if (!signUp || !isApiError(error) || error.code !== 'invalid_credentials') throw error;
      await dure.auth.signUp({ ...account, ...signUp });
      await dure.auth.logIn(account);
    }
  }

  /** One for all pages that wait. One that failed is not tried again for a minute. */
  function logInOnce() {
    const forget = () => {
      login = undefined;
    };
    login ??= logIn().then(forget, (error) => {
      setTimeout(forget, minute).unref();
      throw error;
    });
    return login;
  }

  async function readTitle(id) {
    if (!dure.isSignedIn()) await logInOnce();
    const { title, store } = await dure.posts.get({ post_id: id });
    return { title, store: store.name };
  }

  /** What was read is kept for a minute, also that there is nothing. */
  function titleOf(id) {
    if (!titles.has(id)) {
      if (titles.size >= mostTitles) titles.delete(titles.keys().next().value);
      titles.set(id, readTitle(id));
      setTimeout(() => titles.delete(id), minute).unref();
    }
    return titles.get(id);
  }

  /** @param {string} html @param {string} [url] */
  return async function share(html, url = '/') {
    const id = /^\/posts\/(\d{1,16})(?:\?|$)/.exec(url)?.[1];
    if (id === undefined || !account?.username) return html;
    try {
      const { title, store } = await titleOf(Number(id));
      return withTitle(html, title, store);
    } catch {
      // Deleted, or the service does not respond: the page shows the reason.
      return html;
    }
  };
}

const replacements = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => replacements[character]);

function withTitle(html, title, store) {
  const [name, text] = [escapeHtml(title), escapeHtml(`${title} · ${store}`)];
  return html
    .replace(/(<meta property="og:title" content=")[^"]*/, (_, start) => start + text)
    .replace(/<title>[^<]*/, () => `<meta name="shared-post" content="${name}" />\n    <title>${text}`);
}

/** The account of the host, from its environment. */
export const hostAccount = () => ({
  username: process.env.SHARE_USERNAME,
  password: process.env.SHARE_PASSWORD,
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { env } = process;
  const share = createSharedPages({ apiUrl: env.API_URL ?? 'http://localhost:3000', account: hostAccount() });
  const page = await readFile(`${process.argv[2] ?? 'dist'}/index.html`, 'utf8');
  createServer(async ({ url }, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(await share(page, url));
  }).listen(Number(env.PORT ?? 5174), env.HOST ?? 'localhost');
}
