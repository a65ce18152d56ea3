import type { Audit } from '../admin/audit.ts';
import type { Operator } from '../admin/operator.ts';
import type { Database } from '../database/client.ts';
import { tokenNotValid } from '../http/authentication.ts';
import { ApiError, httpErrors, retryLater } from '../http/errors.ts';
import { paginate } from '../http/pagination.ts';
import { isId } from '../http/path-ids.ts';
import type { RequestContext } from '../http/request-context.ts';
import { postErrors } from '../posts/errors.ts';
import { storeErrors } from '../stores/errors.ts';
import { reportErrors } from './errors.ts';
import { toReport } from './presenters.ts';
import { reports, type Target } from './repository.ts';
import type { NewReport, Report, ReportDecision } from './schemas.ts';

interface ReportServiceOptions {
  database: Database;
  audit: Audit;
}

/** Which reports an operator lists. */
interface ReportFilter {
  status?: Report['status'];
  limit: number;
  cursor?: string;
}

/** Reporting posts and stores, and what operators decide about the reports. */
export function createReportService({ database, audit }: ReportServiceOptions) {
  /**
   * Reports a post or a store.
   *
   * @throws {ApiError} `post_not_found` or `store_not_found`, `already_reported`, `quota_exceeded`, `token_not_valid` when
   *   the account was deleted meanwhile
   */
  function report(
    userId: number,
    target: Target,
    input: NewReport,
    { language }: RequestContext,
  ): Promise<{ id: number }> {
    return database.runStatements(async (tx) => {
      const id = await reports.create(tx, { userId, target, ...input });
      if (id !== undefined) return { id };
      if (!(await reports.isVisible(tx, target))) {
        throw new ApiError(target.kind === 'post' ? postErrors.postNotFound : storeErrors.storeNotFound);
      }
      if (await reports.hasOpen(tx, userId, target)) throw new ApiError(reportErrors.alreadyReported);
      const seconds = await reports.secondsUntilRoom(tx, userId);
      if (seconds !== undefined) throw retryLater(httpErrors.quotaExceeded, seconds);
      throw tokenNotValid('access', 'revoked', language);
    });
  }

  /** Newest first. @throws {ApiError} `invalid_cursor` */
  function list(operator: Operator, { status, ...query }: ReportFilter) {
    return audit.audited(operator, { action: 'reports_listed' }, (tx) =>
      paginate(query, { isId, find: (page) => reports.list(tx, { status, ...page }), present: toReport }),
    );
  }

  /**
   * Closes a report, or decides anew about a closed one. Its target is hidden while at least one report about it is closed
   * with `hide`.
   *
   * @throws {ApiError} `not_found`
   */
  function close(operator: Operator, id: number, decision: ReportDecision): Promise<Report> {
    const { action, note } = decision;
    const entry = {
      action: `report_closed_${action}`,
      subject: { kind: 'report', id },
      reason: note === '' ? undefined : note,
    } as const;
    return audit.audited(operator, entry, async (tx) => {
      const target = await reports.lockTarget(tx, id);
      // The report may be deleted by the clean-up meanwhile.
      const isClosed = target && (await reports.close(tx, id, { ...decision, closedBy: operator.name }));
      if (!isClosed) throw new ApiError(httpErrors.notFound);
      await reports.applyDecisions(tx, target);
      const closed = await reports.find(tx, id);
      if (closed === undefined) throw new ApiError(httpErrors.notFound);
      return toReport(closed);
    });
  }

  return { report, list, close };
}

export type ReportService = ReturnType<typeof createReportService>;
