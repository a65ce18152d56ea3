import type { Test } from 'tap';
import type { Answer } from './app.ts';

/** Asserts a refusal under `/api/` as the contract has it: status, code, the envelope, one text in two places. */
export function refused(
  t: Test,
  answer: Answer,
  status: number,
  code: string,
  extra: Record<string, unknown> = {},
): void {
  const detail = answer.body?.message;
  t.equal(answer.status, status, answer.text.slice(0, 300));
  t.strictSame(answer.body, { success: false, message: detail, data: { detail, code, ...extra } });
  t.match(detail, /\S/);
}

/** Asserts a validation error that names exactly these fields, each with a text. */
export function invalid(t: Test, answer: Answer, ...names: string[]): void {
  const fields: Record<string, string[]> = answer.body?.data?.fields ?? {};
  refused(t, answer, 400, 'validation_error', { fields });
  t.strictSame(Object.keys(fields).sort(), names.sort());
  for (const texts of Object.values(fields)) t.ok(texts.length > 0 && texts.every((text) => text !== ''));
}
