import { cleanText } from '../../http/text.ts';
import { CommandError } from '../command-error.ts';

/** As in the API. */
const maxLength = 1_000;

/** Cleans the text of `--reason` as the API does. @throws {CommandError} `validation_error` */
export function cleanReason(text: string): string {
  const cleaned = cleanText('block', text);
  if ('problem' in cleaned || cleaned.text === '') {
    throw new CommandError('validation_error', 'the reason is empty or has characters that cannot be kept');
  }
  if ([...cleaned.text].length > maxLength) {
    throw new CommandError('validation_error', `the reason is longer than ${maxLength} characters`);
  }
  return cleaned.text;
}
