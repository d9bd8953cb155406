import { openHttpConnection } from './http-connection';
import { quantile } from './quantile';

export interface LoadFigures {
  connections: number;
  per_second: number;
  p50_ms: number;
  p99_ms: number;
}

/** Keeps `connections` requests in flight for a while, sending each as soon as the previous one is answered. */
export async function closedLoop(options: {
  port: number;
  connections: number;
  seconds: number;
  /** The expected status. Figures over other responses would be worthless, so any other status ends the run. */
  status: number;
  next: (index: number) => Buffer;
}): Promise<LoadFigures> {
  const { port, connections, seconds, status, next } = options;
  const open = await Promise.all(Array.from({ length: connections }, () => openHttpConnection(port)));
  const latencies: number[] = [];
  let sent = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  try {
    await Promise.all(
      open.map(async (connection) => {
        for (let now = performance.now(); now < endsAt;) {
          const answered = await connection.exchange(next(sent++));
          if (answered !== status) throw new Error(`answered ${answered} in place of ${status}`);
          const then = now;
          now = performance.now();
          latencies.push(now - then);
        }
      }),
    );
  } finally {
    for (const connection of open) connection.close();
  }
  const elapsed = (performance.now() - startedAt) / 1000;
  return {
    connections,
    per_second: latencies.length / elapsed,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
  };
}
