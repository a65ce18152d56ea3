import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { httpErrors, invalidFields, retryLater } from '../../../http/errors.ts';
import { type FieldError, problems } from '../../../http/field-errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import type { AuthContext } from '../context.ts';
import type { ConsentChanges, NewConsents } from '../schemas.ts';
import type { Answer } from './repository.ts';

const ids = ['terms', 'privacy', 'marketing'] as const;

export type ConsentService = ReturnType<typeof createConsents>;
/** What users agree to, at their sign-up and later. */
export function createConsents({ config, database, accounts, consents }: AuthContext) {
  const { terms, privacy } = config.consentDocuments;
  /** Emails that advertise are a part of the privacy policy, where there is one. */
  const current = { terms, privacy, marketing: privacy ?? terms };

  function list() {
    const items = ids.flatMap((id) => {
      const document = current[id];
      return document ? [{ id, ...document, required: id !== 'marketing' }] : [];
    });
    return { items };
  }

  function outdated(answers: ConsentChanges, path: string): FieldError[] {
    return (['terms', 'privacy'] as const).flatMap((id) => {
      const version = current[id]?.version;
      if (version === undefined || (answers[id] ?? version) === version) return [];
      return [{ field: path + id, ...problems.notAllowed([version]) }];
    });
  }

  function signUpProblems(answers: NewConsents | undefined): FieldError[] {
    if (answers === undefined) return terms ? [{ field: 'consents', ...problems.required }] : [];
    const path = '/consents/';
    const needed = [terms && 'terms', privacy && 'privacy', terms && 'is_14_or_older'] as const;
    const missing = needed.flatMap((name) =>
      name && answers[name] === undefined ? [{ field: path + name, ...problems.required }] : [],
    );
    return [...missing, ...outdated(answers, path)];
  }

  function toAnswers({ terms, privacy, marketing, is_14_or_older: isOldEnough }: NewConsents): Answer[] {
    const version = current.marketing?.version ?? privacy ?? terms ?? null;
    const answers: Answer[] = [];
    if (terms !== undefined) answers.push({ kind: 'terms', action: 'given', version: terms });
    if (privacy !== undefined) answers.push({ kind: 'privacy', action: 'given', version: privacy });
    if (marketing !== undefined)
      answers.push({ kind: 'marketing', action: marketing ? 'given' : 'withdrawn', version });
    if (isOldEnough) answers.push({ kind: 'age', action: 'given', version: null });
    return answers;
  }

  const record = (tx: Tx, userId: number, { answers, ip: address }: { answers: NewConsents; ip: string }) =>
    consents.record(tx, { userId, address }, toAnswers(answers));

  async function find(userId: number, tx: Tx = database) {
    const rows = await consents.latest(tx, userId);
    return ids.flatMap((id) => {
      const answers = rows.filter(({ kind, action }) => kind === id && action !== 'asked');
      const answer = answers.at(-1);
      if (answer === undefined) return [];
      const { action, version, createdAt } = answer;
      const isGiven = action === 'given';
      const given_at = answers.find((one) => one.action === 'given')?.createdAt.toISOString() ?? null;
      const withdrawn_at = isGiven ? null : createdAt.toISOString();
      const is_current = isGiven && (current[id]?.version ?? version) === version;
      return [{ id, version, given_at, withdrawn_at, is_current }];
    });
  }

  /** Records the answers that differ from the latest ones; after a question each one does. Concurrent calls follow one another. */
  async function change(user: CurrentUser, changes: ConsentChanges, { ip: address }: RequestContext) {
    const wrong = outdated(changes, '');
    if (wrong.length > 0) throw invalidFields(wrong);
    return database.transaction(async (tx) => {
      if (!(await accounts.lock(tx, user.id))) throw tokenNotValid('access', 'revoked');
      const known = await consents.latest(tx, user.id);
      const isNew = ({ kind, action, version }: Answer) => {
        const last = known.findLast((row) => row.kind === kind);
        return last?.action !== action || last.version !== version;
      };
      const answers = toAnswers(changes).filter(isNew);
      const seconds = answers.length > 0 ? await consents.countChange(tx, user.id) : undefined;
      if (seconds !== undefined) throw retryLater(httpErrors.quotaExceeded, seconds);
      await consents.record(tx, { userId: user.id, address }, answers);
      return find(user.id, tx);
    });
  }

  return { list, signUpProblems, record, find, change };
}
