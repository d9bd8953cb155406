import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { openCost } from './opencost';

const FROM = new Date('2026-01-01T00:00:00.400Z');
const TO = new Date('2026-01-01T00:02:00.400Z');

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

  const bill = () => openCost({ url, pod: 'gpu-0' }).bill(FROM, TO);
  const reply = (data: unknown, status = 200): void => {
    answer = { status, body: JSON.stringify({ code: status, data }) };
  };

  test('is asked for this pod and this window', async () => {
    reply([{ 'gpu-0': { name: 'gpu-0', minutes: 2, totalCost: 0.05 } }]);
    await bill();
    expect(asked?.pathname).toBe('/allocation');
    expect(Object.fromEntries(asked?.searchParams ?? [])).toMatchObject({
      window: '2026-01-01T00:00:00Z,2026-01-01T00:02:00Z',
      aggregate: 'pod',
      filter: 'pod:"gpu-0"',
    });
  });

  test('tells time and cost, the time never longer than the window', async () => {
    reply([{ 'gpu-0': { minutes: 3, totalCost: 0.09 } }]);
    await expect(bill()).resolves.toEqual({ observedSeconds: 120, billedSeconds: 180, usd: 0.09 });
  });

  test('that has no data for the pod yet gives no bill', async () => {
    reply([null, { 'gpu-1': { minutes: 3, totalCost: 0.09 } }]);
    await expect(bill()).resolves.toBeNull();
  });

  test.each([
    ['an error', [], 500],
    ['something else', { nonsense: true }, 200],
  ])('that answers with %s is a failure, not a bill of nothing', async (_what, data, status) => {
    reply(data, status);
    await expect(bill()).rejects.toThrow();
  });
});
