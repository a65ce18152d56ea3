import type { Block, FrameWording, MailContent } from './mail.ts';

// Characters that change the direction of text. In a name they could make the rest of a line read differently.
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Removes line feeds and control characters, so that user text cannot inject a header or a line of its own. */
export function singleLine(text: string): string {
  return text
    .replace(bidiControls, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** The lines of a text, each as {@link singleLine}. */
export function lines(text: string): string[] {
  return text.split(/\r\n|[\n\r\u0085\u2028\u2029]/).map(singleLine);
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'paragraph':
    case 'note':
      return singleLine(block.text);
    case 'code':
      return singleLine(block.value);
    case 'button':
    case 'link':
      return `${singleLine(block.label)}:\n${block.url}`;
    case 'quote':
      return lines(block.text)
        .map((line) => `> ${line}`.trimEnd())
        .join('\n');
  }
}

/** Renders a mail as plain text. Codes and links are on lines of their own, text of another user is prefixed with `>`. */
export function renderText(content: MailContent, wording: FrameWording, unsubscribeUrl?: string): string {
  const body = [singleLine(content.heading), ...content.blocks.map(blockText)].join('\n\n');
  const unsubscribe = unsubscribeUrl === undefined ? [] : [`${wording.unsubscribe}: ${unsubscribeUrl}`];
  const footer = ['----', singleLine(content.reason), ...unsubscribe, wording.tagline].join('\n');
  return `${body}\n\n${footer}\n`;
}
