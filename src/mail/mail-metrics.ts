import type { Metrics } from '../metrics/metrics.ts';

/** What became of an attempt to send a mail. */
type MailOutcome = 'sent' | 'retried' | 'failed' | 'obsolete';

const mailOutcomes: MailOutcome[] = ['sent', 'retried', 'failed', 'obsolete'];
const jobOutcomes = ['completed', 'retried', 'failed'] as const;

/** What became of a run of a job. */
type JobOutcome = (typeof jobOutcomes)[number];

export type MailMetrics = ReturnType<typeof createMailMetrics>;

/**
 * Counts mails and jobs by their outcome. All series exist from the start, so that the first failure is seen as an increase.
 *
 * @param kinds of mails
 * @param tasks of the worker
 */
export function createMailMetrics({ addCounter }: Metrics, kinds: string[], tasks: string[]) {
  const mails = addCounter('mails_total', 'Attempts to send a mail, by kind and outcome', [
    'kind',
    'outcome',
  ]);
  const jobs = addCounter('queue_job_runs_total', 'Runs of jobs, by task and outcome', ['task', 'outcome']);
  for (const kind of kinds) for (const outcome of mailOutcomes) mails.inc({ kind, outcome }, 0);
  for (const task of tasks) for (const outcome of jobOutcomes) jobs.inc({ task, outcome }, 0);
  return {
    countMail(kind: string, outcome: MailOutcome): void {
      mails.inc({ kind: kinds.includes(kind) ? kind : 'unknown', outcome });
    },
    countJob(task: string, outcome: JobOutcome): void {
      jobs.inc({ task, outcome });
    },
  };
}
