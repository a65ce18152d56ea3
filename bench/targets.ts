import pg from 'pg';
import type { BenchUser } from './data.ts';
import { type LoadResult, type Sender, sendLoad, sendWrkLoad } from './load.ts';
import type { MeasuredServer } from './servers.ts';
import type { Workload } from './workloads.ts';

/** One of those that are compared at a workload. */
export interface Target {
  label: string;
  /** The process whose CPU time and memory are measured. */
  pid: number;
  /** The database that it uses. */
  databaseUrl?: string;
  /** @param seconds how long */
  run(seconds: number): Promise<LoadResult>;
  /** Ends what a run has left behind. */
  settle?(): Promise<void>;
  /** What the first connection sends; for the comparison of the responses. */
  sample?(): Promise<{ url: string; sender: Sender }>;
}

export interface Field {
  service: MeasuredServer;
  limit: MeasuredServer;
  users: BenchUser[];
  connections: number;
  tool: string;
}

/** Those that are compared at a workload: the service, and then with what it is compared. */
export function targetsOf(workload: Workload, field: Field): [Target, Target, ...Target[]] {
  const { service, limit, users, connections, tool } = field;

  function target(label: string, server: MeasuredServer, prefix = ''): Target {
    const createSenders = async (count: number) =>
      (await workload.createSenders({ server, users, connections: count })).map((sender) => ({
        ...sender,
        path: prefix + sender.path,
      }));
    return {
      label,
      pid: server.pid,
      databaseUrl: server.databaseUrl,
      async run(seconds) {
        const senders = await createSenders(connections);
        const isFixed = senders.every(({ next }) => next === undefined);
        const send = tool === 'wrk' && isFixed ? sendWrkLoad : sendLoad;
        return send(server.url, senders, seconds);
      },
      settle: async () => {
        if (workload.hasMailJob) await deleteJobs(server.databaseUrl);
      },
      async sample() {
        const [sender] = await createSenders(1);
        if (sender === undefined) throw new Error('there is nothing to send');
        return { url: server.url, sender };
      },
    };
  }

  const baseline = target('limit', limit);
  const withMail = workload.hasMailJob ? [target('limit with mail job', limit, '/with-mail')] : [];
  return [target('service', service), baseline, ...withMail];
}

/** Emails that are still queued would be sent while the next one is measured. */
export async function deleteJobs(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      await client.query('DELETE FROM graphile_worker._private_jobs WHERE locked_at IS NULL');
      const { rowCount } = await client.query('SELECT FROM graphile_worker._private_jobs LIMIT 1');
      if (!rowCount) return;
    }
  } finally {
    await client.end();
  }
}
