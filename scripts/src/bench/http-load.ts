import { Agent, request } from 'node:http';

export interface LoadResult {
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers by status code: a figure is worth nothing when they are not the expected ones. */
  statuses: Record<string, number>;
}

export interface LoadRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** Sends `count` requests over `connections` kept-alive connections, each as soon as the one before it is answered. */
export async function measureLoad(options: {
  connections: number;
  count: number;
  next: (index: number) => LoadRequest;
}): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections });
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let sent = 0;
  async function worker(): Promise<void> {
    while (sent < options.count) {
      const startedAt = performance.now();
      const status = await send(options.next(sent++), agent);
      latencies.push(performance.now() - startedAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: options.connections }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const quantile = (q: number) => latencies[Math.floor(q * (latencies.length - 1))] ?? 0;
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    statuses,
  };
}

function send({ method, url, headers, body }: LoadRequest, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.once('error', reject).end(body);
  });
}
