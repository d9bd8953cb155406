import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { openCost } from './pod-cost';

const FROM = new Date('2026-01-01T00:00:00.400Z');
const TO = new Date('2026-01-01T00:02:00.400Z');

const allocation = (change: object) => ({
  name: 'gpu-0',
  start: '2025-12-31T23:20:00Z',
  end: '2026-01-01T00:02:00Z',
  minutes: 42,
  totalCost: 1,
  ...change,
});

describe('an OpenCost server', () => {
  let server: Server;
  let url: string;
  let asked: URL | undefined;
  let answer: { status: number; body: string };

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked = new URL(request.url ?? '/', 'http://cost.test');
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // listening on TCP, so not a pipe's name
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const bill = () => openCost({ url, pod: 'gpu-0' })(FROM, TO);
  const reply = (data: unknown, status = 200): void => {
    answer = { status, body: JSON.stringify({ code: status, data }) };
  };

  test('is asked for this pod and this window', async () => {
    reply([{ 'gpu-0': allocation({}) }]);
    await bill();
    expect(asked?.pathname).toBe('/allocation');
    expect(Object.fromEntries(asked?.searchParams ?? [])).toMatchObject({
      window: '2025-12-31T23:00:00Z,2026-01-01T00:02:00Z',
      aggregate: 'pod',
      filter: 'pod:"gpu-0"',
    });
  });

  test('charges the time of the run at the rate of the last hour', async () => {
    reply([{ 'gpu-0': allocation({ minutes: 40, totalCost: 1.2, end: '2026-01-01T00:03:00Z' }) }]);
    await expect(bill()).resolves.toEqual({ observedSeconds: 120, billedSeconds: 120, usd: 0.06 });
  });

  test.each([
    ['part of the run', '2026-01-01T00:00:30.400Z', 30],
    ['nothing of it', '2025-12-31T23:59:00Z', 0],
  ])('that lags and has seen %s reports that, and charges all of it', async (_what, end, observedSeconds) => {
    reply([{ 'gpu-0': allocation({ minutes: 40, totalCost: 1.2, end }) }]);
    await expect(bill()).resolves.toEqual({ observedSeconds, billedSeconds: 120, usd: 0.06 });
  });

  test.each([
    ['no data for the pod', [null, { 'gpu-1': allocation({}) }]],
    ['not seen a minute of it', [{ 'gpu-0': allocation({ minutes: 0, totalCost: 0 }) }]],
  ])('that has %s yet gives no bill', async (_what, data) => {
    reply(data);
    await expect(bill()).resolves.toBeNull();
  });

  test.each([
    ['an error', [], 500],
    ['something else', { nonsense: true }, 200],
  ])('that answers with %s is a failure, not a bill of zero', async (_what, data, status) => {
    reply(data, status);
    await expect(bill()).rejects.toThrow();
  });
});
