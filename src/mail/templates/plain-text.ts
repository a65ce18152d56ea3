import type { Block, MailContent } from './mail.ts';

// What orders text from right to left or overrides its order; a name holding it could make the rest of a line read
// as something else.
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text as one line: no line feed, no control character, so that nothing can start a new header in a subject nor a new
 * line that looks like the service's own.
 */
export function singleLine(text: string): string {
  return text
    .replace(bidiControls, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** The lines of a text that a user wrote. */
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

/**
 * A mail as plain text. Codes and links stand on lines of their own, what another user wrote is marked with `>`.
 */
export function renderText(content: MailContent, brand: string): string {
  const body = [singleLine(content.heading), ...content.blocks.map(blockText)].join('\n\n');
  return `${body}\n\n----\n${singleLine(content.reason)}\n${brand}\n`;
}
