import { createHash } from 'node:crypto';

/** The styles of the page. */
export const style = `:root{color-scheme:light dark;--page:#f3f6f4;--card:#fff;--ink:#1d2a23;--soft:#55635b;--box:#eef5f0;--brand:#1f6f4a}
@media (prefers-color-scheme:dark){:root{--page:#131a16;--card:#1c2620;--ink:#eef3ef;--soft:#b3c2b9;--box:#26332b;--brand:#8fdab2}}
*{box-sizing:border-box}
body{max-width:720px;margin:0 auto;padding:16px;background:var(--page);color:var(--ink);font:16px/1.6 system-ui,sans-serif;word-break:keep-all;overflow-wrap:anywhere}
h1{font-size:24px}
h2{display:inline;font-size:18px}
a{color:var(--brand)}
.soft{color:var(--soft);font-size:14px}
article{margin:0 0 12px;padding:4px 16px;background:var(--card);border-radius:14px}
summary{padding:10px 0;cursor:pointer}
summary .soft{display:block}
.highlight{display:flex;flex-wrap:wrap;gap:8px 12px;align-items:center;justify-content:space-between;margin:0 0 12px;padding:12px;background:var(--box);border-radius:10px;color:var(--brand)}
.highlight>:first-child{flex:1 1 200px;min-width:0}
.code{font:700 30px/1.2 ui-monospace,monospace;user-select:all}
button{min-height:44px;padding:0 14px;border:1px solid currentColor;border-radius:10px;background:none;color:inherit;font:inherit;font-size:14px;cursor:pointer}
pre{white-space:pre-wrap;font:inherit}
.html>summary{color:var(--brand)}
iframe{width:100%;height:70vh;min-height:320px;border:0;border-radius:10px;background:#fff;resize:vertical}
#status:not(:empty){position:fixed;inset:auto 16px 16px;width:fit-content;margin:0 auto;padding:10px 16px;border-radius:10px;background:var(--ink);color:var(--page)}`;

/**
 * Copies codes and links, and reloads the page when there is a new mail, and only then, so that a selection or an open frame is
 * not lost. The clipboard needs a secure context, which a page at an IP address is not: there the text is selected and copied
 * by the older command.
 */
export const script = `const { dataset } = document.body;
const status = document.getElementById('status');
let hiding;
async function copy(button) {
  const text = button.previousElementSibling;
  if (navigator.clipboard) return navigator.clipboard.writeText(text.textContent);
  getSelection().selectAllChildren(text);
  if (!document.execCommand('copy')) throw new Error('not copied');
}
document.addEventListener('click', async ({ target }) => {
  const button = target.closest('button');
  if (!button) return;
  clearTimeout(hiding);
  status.textContent = '';
  const text = await copy(button).then(() => dataset.copied, () => dataset.notCopied);
  status.textContent = text;
  hiding = setTimeout(() => { status.textContent = ''; }, 4000);
});
setInterval(async () => {
  const response = await fetch(location.href, { headers: { accept: 'application/json' } }).catch(() => undefined);
  if (!response?.ok) return;
  const { items } = await response.json();
  if ((items[0]?.created_at ?? '') !== dataset.newest) location.reload();
}, 3000);`;

/** Only the script of the page may run. Mails are styled inline, and their frames inherit this policy. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  // For the icon.
  'img-src data:',
  "connect-src 'self'",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');
