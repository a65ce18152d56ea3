import type { FastifyInstance } from 'fastify';
import { tokenNotValid } from '../../http/authentication.ts';
import { ApiError, type ErrorDefinition, found, httpErrors, retryLater } from '../../http/errors.ts';
import { paginate } from '../../http/pagination.ts';
import { isBigId } from '../../http/schemas.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Audit, Operator } from '../admin/index.ts';
import * as reports from './repository.ts';
import { reportRoutes } from './routes.ts';
import * as schemas from './schemas.ts';

export { expiredReports } from './repository.ts';

/** Builds the reports domain: its routes under `/api/v1`, at the paths of posts, stores and admins. */
export function createReports({ database, audit }: { database: Database; audit: Audit }) {
  const service = createReportService(database, audit);
  return { service, routes: async (scope: FastifyInstance) => scope.register(reportRoutes, service) };
}

type ReportTarget = reports.Target & { notFound: ErrorDefinition };
export type ReportService = ReturnType<typeof createReportService>;

/** Reporting posts and stores, and what operators decide about the reports. */
function createReportService(database: Database, { audited }: Audit) {
  return {
    async report(userId: number, { notFound, ...target }: ReportTarget, input: schemas.NewReport) {
      const created = await reports.create(database, { userId, target, ...input });
      if ('id' in created) return created;
      if ('seconds' in created) throw retryLater(httpErrors.quotaExceeded, created.seconds);
      if (created.refusal === 'account_deleted') throw tokenNotValid('access', 'revoked');
      if (created.refusal === 'already_reported') throw new ApiError(schemas.reportErrors.alreadyReported);
      throw new ApiError(notFound);
    },

    list(operator: Operator, { status, ...query }: schemas.ReportQuery) {
      return audited(operator, { action: 'reports_listed' }, (tx) =>
        paginate(query, {
          isId: isBigId,
          find: (page) => reports.list(tx, { status, ...page }),
          present: schemas.toReport,
        }),
      );
    },

    /** Closes a report, or decides again: its target is hidden while one is closed with `hide`. @throws {ApiError} `not_found` */
    close(operator: Operator, id: number, decision: schemas.ReportDecision): Promise<schemas.Report> {
      const { action, note } = decision;
      const subject = { kind: 'report', id } as const;
      const reason = note === '' ? undefined : note;
      return audited(operator, { action: `report_closed_${action}`, subject, reason }, async (tx) => {
        const closed = await reports.close(tx, id, { ...decision, closedBy: operator.name });
        return schemas.toReport(found(closed));
      });
    },
  };
}
