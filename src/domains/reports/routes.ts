import { Type } from '@sinclair/typebox';
import { currentUser } from '../../http/authentication.ts';
import { httpErrors } from '../../http/errors.ts';
import { operation, type Routes } from '../../http/route-config.ts';
import { BigPathId, PathId, Ref } from '../../http/schemas.ts';
import { requestOperator } from '../admin/index.ts';
import { postErrors } from '../posts/index.ts';
import { storeErrors } from '../stores/index.ts';
import type { ReportService } from './index.ts';
import * as schemas from './schemas.ts';

/** What can be reported: the last part of its operation, its id in the path, and the error when it is not found. */
const targets = {
  post: { name: 'Post', id: BigPathId('`id` of a post'), notFound: postErrors.postNotFound },
  store: { name: 'Store', id: PathId('`id` of a store'), notFound: storeErrors.storeNotFound },
};

/** Reporting posts and stores, and what admins do with the reports. */
export const reportRoutes: Routes<ReportService> = async (app, service) => {
  for (const kind of ['post', 'store'] as const) {
    const { name, id, notFound } = targets[kind];
    app.post(`/${kind}s/:${kind}_id/report/`, {
      config: {
        ...operation('user', '신고를 접수했습니다.', 'Your report has been received.'),
        errors: [notFound, schemas.reportErrors.alreadyReported, httpErrors.quotaExceeded],
      },
      schema: {
        operationId: `report${name}`,
        summary: `Report a ${kind}`,
        description:
          'Admins look at the report. A user has at most one open report about it; after that was closed, another one can be sent. A user can send 20 reports in the 24 hours from the first.',
        params: Type.Object({ [`${kind}_id`]: id }),
        body: Ref(schemas.NewReport),
        response: { 201: Ref(schemas.ReportReceipt) },
      },
      handler: async (request) => {
        const target = { kind, id: Number(request.params[`${kind}_id`]), notFound };
        return service.report(currentUser(request).id, target, request.body);
      },
    });
  }

  app.get('/admin/reports/', {
    config: operation('admin', '신고 목록을 조회했습니다.', 'Here are the reports.'),
    schema: {
      operationId: 'listReports',
      summary: 'List reports',
      description: 'Newest first. A closed report is kept for a year, and for as long as it hides something.',
      querystring: schemas.ReportQuery,
      response: { 200: Ref(schemas.ReportPage) },
    },
    handler: async (request) => service.list(requestOperator(request), request.query),
  });

  app.post('/admin/reports/:report_id/close/', {
    config: operation('admin', '신고를 처리했습니다.', 'The report has been closed.'),
    schema: {
      operationId: 'closeReport',
      summary: 'Close a report',
      description:
        'With `hide` the post or store is not found, not even by its owner; requests about it stay with both sides. Closing the report again, with `none`, shows it again, unless another report about it was closed with `hide`. A post that was deleted stays deleted.',
      params: Type.Object({ report_id: BigPathId('`id` of a report') }),
      body: Ref(schemas.ReportDecision),
      response: { 200: Ref(schemas.Report) },
    },
    handler: async (request) =>
      service.close(requestOperator(request), request.params.report_id, request.body),
  });
};
