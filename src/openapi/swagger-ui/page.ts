import { icon } from '../../http/pages.ts';
import { escapeHtml } from '../../infrastructure/mail/rendering.ts';
import { information } from '../information.ts';

export interface PageOptions {
  /** Whether there is a button that signs up and logs in. */
  demoLogin: boolean;
  /** The path of a file, by its name. */
  pathOf(name: string): string;
}

/**
 * The page of Swagger UI. What it shows at first is rendered here with the classes of Swagger UI, because evaluating that takes a
 * phone seconds; `script` loads it in place of this as soon as somebody touches the page.
 */
export function renderPage({ demoLogin, pathOf }: PageOptions): string {
  const { info, tags } = information;
  const bundle = pathOf('swagger-ui-bundle.js');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="description" content="${info.summary}">
<title>Dure API</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<link rel="stylesheet" href="${pathOf('dure.css')}">
<script src="${pathOf('dure.js')}" data-bundle="${bundle}"></script>
<link rel="prefetch" href="${bundle}" as="script">
</head>
<body>
<header class="intro">
<h1>${info.title} API <small>${info.version}</small></h1>
<div>${toHtml(info.description.replaceAll('\n\n', '\n'))}</div>
<p><a href="/openapi.yaml">openapi.yaml</a> · <a href="/openapi.json">openapi.json</a></p>
${demoLogin ? '<button id="demo-login">Log in as a new demo shop</button> <output></output>' : ''}
</header>
<div id="swagger-ui"><div class="swagger-ui">
<div class="scheme-container"><section class="schemes wrapper"><div class="auth-wrapper"><button class="btn authorize" id="authorize"><span>Authorize</span></button></div></section></div>
<main class="wrapper">
${tags.map(({ name, description }) => `<h2 class="opblock-tag"><a class="nostyle" href="#/${name}">${name}</a><small class="renderedMarkdown"><p>${toHtml(description)}</p></small></h2>`).join('\n')}
</main>
</div></div>
</body>
</html>
`;
}

/** Of the Markdown that the document uses: code, and line breaks, which `white-space` keeps. */
function toHtml(markdown: string): string {
  return escapeHtml(markdown).replace(/`([^`]+)`/g, '<code>$1</code>');
}
