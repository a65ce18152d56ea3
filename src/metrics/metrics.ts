import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Where the parts of the service put what they measure; `GET /metrics` shows it. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates an empty set of metrics. Labels must have few values, all of them known to the code. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];

  /** Adds a gauge that is read at each scrape. */
  function addGauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }

  /** Adds a counter; its name ends with `_total`. */
  function addCounter<Label extends string>(name: string, help: string, labelNames: readonly Label[]) {
    return new Counter({ name, help, labelNames, registers });
  }

  /** Adds a histogram; its name ends with the unit. @param buckets upper bounds */
  function addHistogram<Label extends string>(
    name: string,
    help: string,
    { buckets, labelNames = [] }: { buckets: number[]; labelNames?: readonly Label[] },
  ) {
    return new Histogram({ name, help, buckets, labelNames, registers });
  }

  return { registry, addGauge, addCounter, addHistogram };
}
