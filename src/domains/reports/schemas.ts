import { type Static, Type } from '@sinclair/typebox';
import { defineError } from '../../http/errors.ts';
import { Page, PageQuery } from '../../http/pagination.ts';
import * as t from '../../http/schemas.ts';
import { OptionalBlock } from '../../http/text.ts';
import { User } from '../auth/index.ts';
import { StoreSummary, toStoreSummary } from '../stores/index.ts';
import type { ReportRow } from './repository.ts';

export const reportErrors = {
  alreadyReported: defineError(409, 'already_reported', {
    ko: '이미 신고하셨습니다. 처리 결과를 기다려 주세요.',
    en: 'You have already reported this. Please wait for the decision.',
  }),
};

const ReportReason = t.NamedEnum('ReportReason', 'What is wrong with a post or a store', {
  spam: 'Advertising, or the same text repeatedly',
  fraud: 'It deceives others',
  abuse: 'Insults, hate or harassment',
  other: 'Something else; say what in `text`',
});

const ReportStatus = t.NamedEnum('ReportStatus', 'Whether a report was decided about', {
  open: 'Waits for an admin',
  closed: 'An admin has decided',
});

const ReportAction = t.NamedEnum('ReportAction', 'What an admin decided about a report', {
  none: 'The post or store is found, unless another report hides it',
  hide: 'The post or store is not found',
});

const ReportTarget = t.NamedEnum('ReportTarget', 'What a report is about', {
  post: 'A post',
  store: 'A store',
});

export const NewReport = t.Body('NewReport', 'What is wrong with a post or a store', {
  reason: t.Ref(ReportReason),
  text: OptionalBlock('More about it; may contain line feeds, and may be empty', 1000),
});
export type NewReport = Static<typeof NewReport>;

export const ReportReceipt = t.NamedObject('ReportReceipt', 'A report that was received', {
  id: t.BigId('Identifier of the report'),
});

const ReportedPost = t.NamedObject('ReportedPost', 'A post in a report, which may be hidden or deleted', {
  id: t.BigId('`id` of the post'),
  title: t.Text('Its title', 100),
});

const Reporter = t.NamedObject('Reporter', 'The user who sent a report', {
  id: t.Id('`id` of the account'),
  username: User.properties.username,
});

export const Report = t.NamedObject('Report', 'A report as admins see it', {
  id: t.BigId('Identifier of the report'),
  target: t.Ref(ReportTarget),
  post: t.RefOrNull(ReportedPost, 'The post that was reported; `null` in a report about a store'),
  store: t.Ref(StoreSummary),
  reason: t.Ref(ReportReason),
  text: t.Text('More about it, in the words of the reporter; empty if there is none', 1000),
  reporter: t.RefOrNull(Reporter, '`null` when the account was deleted'),
  status: t.Ref(ReportStatus),
  action: t.RefOrNull(ReportAction, 'What was decided last; `null` while the report is open'),
  note: t.Text('A note of the admin; empty if there is none', 1000),
  created_at: t.Timestamp('When it was sent'),
  closed_at: t.OrNull(t.Timestamp('When it was first closed; `null` while it is open')),
  closed_by: t.OrNull(
    t.Text(
      'The person who closed it last: `admin:` and the id of the account, or `cli:` and a name; `null` while it is open',
      { pattern: '^(admin|cli):', maxLength: 100 },
    ),
  ),
});
export type Report = Static<typeof Report>;
export const ReportPage = Page('ReportPage', t.Ref(Report));

export const ReportQuery = Type.Object({
  status: Type.Optional(
    t.Ref(ReportStatus, { description: 'Only reports with this status; all without it' }),
  ),
  ...PageQuery,
});
export type ReportQuery = Static<typeof ReportQuery>;

export const ReportDecision = t.Body('ReportDecision', 'What to do about a report', {
  action: t.Ref(ReportAction),
  note: OptionalBlock('For other admins; without it the report has an empty note', 1000),
});
export type ReportDecision = Static<typeof ReportDecision>;

/** A report as the API shows it. */
export function toReport({ id, post, reason, text, reporter, action, note, ...row }: ReportRow): Report {
  const store = row.store ?? post?.store;
  if (!store) throw new Error('a report has a post or a store');
  return {
    id,
    target: post === null ? 'store' : 'post',
    post: post && { id: post.id, title: post.title },
    store: toStoreSummary(store),
    reason,
    text,
    reporter,
    status: row.closedAt === null ? 'open' : 'closed',
    action,
    note,
    created_at: row.createdAt.toISOString(),
    closed_at: row.closedAt?.toISOString() ?? null,
    closed_by: row.closedBy,
  };
}
