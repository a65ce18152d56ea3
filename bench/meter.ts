import type { LoadResult } from './load.ts';
import { cpuTime, cpuTimeWithChildren, memory, resetPeakMemory } from './processes.ts';
import type { MeasuredServer } from './servers.ts';

/** One run of a workload on one server. */
export interface Measurement extends LoadResult {
  /** CPU time for each request, in microseconds. */
  serverCpu: number;
  postgresCpu: number;
  /** Resident memory in MiB, the most since the peaks were started. */
  peakMemory: number;
}

/** Measures what a run costs. */
export function createMeter(postmaster: number) {
  async function readCpu({ pid }: MeasuredServer) {
    const [server, postgres] = await Promise.all([cpuTime(pid), cpuTimeWithChildren(postmaster)]);
    return { server, postgres };
  }

  async function measure(server: MeasuredServer, run: () => Promise<LoadResult>): Promise<Measurement> {
    const before = await readCpu(server);
    const result = await run();
    const after = await readCpu(server);
    const { peak } = await memory(server.pid);
    return {
      ...result,
      serverCpu: (after.server - before.server) / result.requests,
      postgresCpu: (after.postgres - before.postgres) / result.requests,
      peakMemory: peak,
    };
  }

  async function startPeaks(...servers: MeasuredServer[]): Promise<void> {
    for (const { pid } of servers) await resetPeakMemory(pid);
  }

  return { measure, startPeaks };
}
