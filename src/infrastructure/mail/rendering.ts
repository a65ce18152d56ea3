import type { Language } from '../database/generated/enums.ts';
import { type Block, greetableName, lines, singleLine, type WrittenMail } from './content.ts';

/** An email ready to be sent, except for its address. */
export interface RenderedMail {
  language: Language;
  subject: string;
  text: string;
  html: string;
}

type Wording = (typeof wordings)[Language];

/** What all emails of a language have in common. */
const wordings = {
  ko: {
    brand: '두레',
    tagline: '두레 · 동네 가게들의 제휴를 이어 드립니다',
    /** The link that switches such emails off. */
    unsubscribe: '이 종류의 메일 그만 받기',
    /** Shown above the URL under a button. */
    linkFallback: '버튼이 눌리지 않으면 아래 주소를 브라우저에 붙여 넣어 주세요.',
    /** @param name undefined where the name cannot be used */
    greeting(name: string | undefined) {
      if (name === undefined) return '안녕하세요.';
      return `${name.endsWith('님') ? name : `${name}님`}, 안녕하세요.`;
    },
  },
  en: {
    brand: 'Dure',
    tagline: 'Dure · Partnerships between neighbourhood shops',
    unsubscribe: 'Stop emails of this kind',
    linkFallback: 'If the button does not work, paste this address into your browser.',
    greeting: (name: string | undefined) => (name === undefined ? 'Hello,' : `Hello ${name},`),
  },
};

/** What text and HTML are made from. */
type Content = WrittenMail & Wording & { unsubscribeUrl: string | undefined };

/**
 * Renders an email as text and HTML. The same input gives the same bytes: Resend rejects another body under the same idempotency key.
 *
 * @param unsubscribeUrl of emails that can be switched off
 */
export function renderMail(mail: WrittenMail, unsubscribeUrl?: string): RenderedMail {
  const { language, name, blocks } = mail;
  const wording = wordings[language];
  const greeting = name === undefined ? [] : [wording.greeting(greetableName(name))];
  const content = {
    ...wording,
    ...mail,
    subject: singleLine(mail.subject),
    preheader: singleLine(mail.preheader),
    heading: singleLine(mail.heading),
    blocks: [...greeting, ...blocks].map(cleanBlock),
    unsubscribeUrl,
  };
  return { language, subject: content.subject, text: renderText(content), html: renderHtml(content) };
}

function cleanBlock(block: Block): Block {
  if (typeof block === 'string') return singleLine(block);
  return block.type === 'quote' ? block : { ...block, text: singleLine(block.text) };
}

/** Renders an email as plain text. Codes and links are on lines of their own, text of another user is prefixed with `>`. */
function renderText({ heading, blocks, reason, unsubscribe, unsubscribeUrl, tagline }: Content): string {
  const body = [heading, ...blocks.map(blockText)].join('\n\n');
  const link = unsubscribeUrl === undefined ? [] : [`${unsubscribe}: ${unsubscribeUrl}`];
  const footer = ['----', reason, ...link, tagline].join('\n');
  return `${body}\n\n${footer}\n`;
}

function blockText(block: Block): string {
  if (typeof block === 'string') return block;
  if ('url' in block) return `${block.text}:\n${block.url}`;
  if (block.type !== 'quote') return block.text;
  return lines(block.text)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

const replacements: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an HTML element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => replacements[character] ?? character);
}

const fonts = `-apple-system,BlinkMacSystemFont,'Apple SD Gothic Neo','Noto Sans KR','Malgun Gothic','Segoe UI',Roboto,Helvetica,Arial,sans-serif`;
const monospace = `ui-monospace,SFMono-Regular,Menlo,Consolas,'Courier New',monospace`;
// keep-all: Korean breaks between words. anywhere: a URL or a long word must not widen the page.
const wrapping = 'word-break:keep-all;overflow-wrap:anywhere;';

// The light colours are inline, for clients that drop <style>. The classes exist for dark mode only.
const darkMode = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background:#131a16!important}
.card{background:#1c2620!important;border-color:#2f3d35!important}
.ink{color:#eef3ef!important}
.soft{color:#b3c2b9!important}
.box{background:#26332b!important;border-color:#3c4f44!important}
.quote{border-color:#7fd1a5!important}
.brand{color:#7fd1a5!important}
.button{background:#1f6f4a!important}
.anchor{color:#8fdab2!important}
}`;

// After a name or a date. A semicolon may end an escaped character, which must stay in one piece.
const particleAfterSign = /(?!;)[\p{Pe}\p{Pf}\p{Po}\p{S}](?:에서|에|님)(?=[ ,])/gu;

/**
 * Escapes one line of text. Browsers may break a line after a bracket or another sign even with `keep-all`; a span keeps
 * the particle of `두레 카페(본점)에서` from beginning the next line.
 */
function inline(text: string): string {
  return escapeHtml(text).replace(particleAfterSign, '<span style="white-space:nowrap">$&</span>');
}

function bareLink(url: string): string {
  const address = escapeHtml(url);
  return `<a class="anchor" href="${address}" target="_blank" rel="noopener noreferrer" style="color:#1f6f4a;word-break:break-all;">${address}</a>`;
}

/** A code is spaced out to be read digit by digit; a long username is smaller, to fit on one line of a phone. */
function codeHtml(value: string): string {
  const size = value.length > 12 ? 'font-size:18px;' : 'font-size:28px;letter-spacing:2px;';
  return `<p class="box ink" style="margin:0 0 20px;padding:18px 12px;background:#eef5f0;border:1px solid #cfe0d5;border-radius:10px;text-align:center;font-family:${monospace};${size}font-weight:700;line-height:1.3;color:#1d2a23;overflow-wrap:anywhere;">${escapeHtml(value)}</p>`;
}

function blockHtml(block: Block, linkFallback: string): string {
  if (typeof block === 'string') {
    return `<p class="ink" style="margin:0 0 20px;font-size:16px;line-height:1.65;color:#1d2a23;${wrapping}">${inline(block)}</p>`;
  }
  switch (block.type) {
    case 'note':
      return `<p class="soft" style="margin:0 0 12px;font-size:14px;line-height:1.6;color:#55635b;${wrapping}">${inline(block.text)}</p>`;
    case 'code':
      return codeHtml(block.text);
    case 'button':
      // A table cell, because Outlook on Windows ignores the padding of a link.
      return `<table role="presentation" border="0" cellspacing="0" cellpadding="0" style="margin:0 0 16px;"><tr><td class="button" bgcolor="#1f6f4a" style="border-radius:10px;background:#1f6f4a;mso-padding-alt:14px 24px;"><a href="${escapeHtml(block.url)}" target="_blank" rel="noopener noreferrer" style="display:inline-block;padding:14px 24px;font-size:16px;font-weight:700;line-height:1.3;color:#ffffff;text-decoration:none;">${escapeHtml(block.text)}</a></td></tr></table>
<p class="soft" style="margin:0 0 20px;font-size:13px;line-height:1.6;color:#55635b;${wrapping}">${escapeHtml(linkFallback)}<br>${bareLink(block.url)}</p>`;
    case 'link':
      return `<p class="ink" style="margin:0 0 20px;font-size:15px;line-height:1.6;color:#1d2a23;${wrapping}"><a class="anchor" href="${escapeHtml(block.url)}" target="_blank" rel="noopener noreferrer" style="color:#1f6f4a;">${escapeHtml(block.text)}</a></p>`;
    case 'quote':
      return `<blockquote class="box quote ink" style="margin:0 0 20px;padding:14px 16px;background:#eef5f0;border-left:4px solid #1f6f4a;border-radius:0 10px 10px 0;font-size:16px;line-height:1.65;color:#1d2a23;${wrapping}">${lines(block.text).map(escapeHtml).join('<br>')}</blockquote>`;
  }
}

/** Renders an email as an HTML document with inline styles that loads nothing. Tables only where Outlook needs them. */
function renderHtml(content: Content): string {
  const { language, unsubscribeUrl } = content;
  const subject = escapeHtml(content.subject);
  const unsubscribe =
    unsubscribeUrl === undefined
      ? ''
      : `<a class="soft" href="${escapeHtml(unsubscribeUrl)}" target="_blank" rel="noopener noreferrer" style="color:#55635b;">${escapeHtml(content.unsubscribe)}</a><br>`;
  const blocks = content.blocks.map((block) => blockHtml(block, content.linkFallback)).join('\n');
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${subject}</title>
<style>${darkMode}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f6f4;">
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all;">${escapeHtml(content.preheader)}${'&#8199;&#847; '.repeat(60)}</div>
<div class="page" role="article" aria-roledescription="email" aria-label="${subject}" lang="${language}" style="padding:24px 12px;background:#f3f6f4;font-family:${fonts};">
<!--[if mso]><table role="presentation" width="560" align="center"><tr><td><![endif]-->
<div class="card" style="max-width:512px;margin:0 auto;padding:28px 24px 16px;background:#ffffff;border:1px solid #dde6e0;border-radius:14px;">
<p class="brand" style="margin:0 0 20px;font-size:18px;font-weight:800;line-height:1.3;color:#1f6f4a;">${escapeHtml(content.brand)}</p>
<h1 class="ink" style="margin:0 0 16px;font-size:22px;font-weight:700;line-height:1.4;color:#1d2a23;${wrapping}">${inline(content.heading)}</h1>
${blocks}
</div>
<div style="max-width:512px;margin:0 auto;padding:16px 24px 0;">
<p class="soft" style="margin:0;font-size:13px;line-height:1.6;color:#55635b;${wrapping}">${inline(content.reason)}<br>${unsubscribe}${escapeHtml(content.tagline)}</p>
</div>
<!--[if mso]></td></tr></table><![endif]-->
</div>
</body>
</html>
`;
}
