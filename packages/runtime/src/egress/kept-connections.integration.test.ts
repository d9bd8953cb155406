import { type HttpsReceiver, type ReceiverScript, startHttpsReceiver } from '@lipsync/testkit';
import { type Egress, egressUnder } from './egress';

const HOST = 'hooks.example.test';
const OTHER_HOST = 'other.example.test';

let receiver: HttpsReceiver;
let egress: Egress;
let routes: Map<string, string>;

beforeEach(async () => {
  receiver = await startHttpsReceiver({ hostnames: [HOST, OTHER_HOST] });
  routes = new Map([HOST, OTHER_HOST].map((host) => [`${host}:443`, receiver.address]));
  egress = egressUnder({
    allowedPorts: 'any',
    resolve: () => Promise.reject(new Error('everything is routed')),
    isAllowedAddress: () => false,
    routes,
    ca: receiver.ca,
    connectTimeoutMs: 60_000,
  });
});
afterEach(async () => {
  egress.close();
  await receiver.close();
});

async function post(host = HOST): Promise<number> {
  const options = { headers: {}, body: '{}', deadlineMs: 60_000 };
  return (await egress.post(`https://${host}/hook`, options)).status;
}

/** The replies to the first requests; 200 after that. */
const replies =
  (...script: Exclude<ReceiverScript, (...all: never[]) => unknown>[]): ReceiverScript =>
  (_request, index) =>
    script[index] ?? { status: 200 };

describe('kept connections of posts', () => {
  it('are reused for the same host by successive posts', async () => {
    for (let times = 0; times < 5; times += 1) expect(await post()).toBe(200);
    expect(receiver.connections()).toBe(1);
  });

  it('are as many as there are concurrent posts, and are all kept', async () => {
    await Promise.all([post(), post(), post()]);
    await Promise.all([post(), post(), post()]);
    expect(receiver.connections()).toBe(3);
  });

  it('belong to the host that they were verified for, even if another host has the same address', async () => {
    await post(HOST);
    await post(OTHER_HOST);
    expect(receiver.connections()).toBe(2);
  });

  it.each([
    ['the receiver ends them', { status: 200, headers: { connection: 'close' } }],
    ['the answer was not read to its end', 'endless'],
    ['the answer breaks off', { status: 200, headers: { 'content-length': '9' }, body: 'x' }],
  ] as const)('are not reused when %s', async (_when, reply) => {
    receiver.reply(replies(reply));
    expect(await post()).toBe(200);
    expect(await post()).toBe(200);
    expect(receiver.connections()).toBe(2);
  });

  it('that break on reuse are replaced by a new one, once', async () => {
    receiver.reply(replies({ status: 200 }, 'reset', { status: 202 }, 'reset', 'reset'));
    expect(await post()).toBe(200);
    expect(await post()).toBe(202);
    expect(receiver.connections()).toBe(2);
    await expect(post()).rejects.toMatchObject({ reason: 'connection_failed' });
    expect(receiver.requests).toHaveLength(5);
  });

  it('are not replaced if the response cannot be read, because the receiver has got the request', async () => {
    receiver.reply(replies({ status: 200 }, { status: 200, headers: { 'x-large': 'a'.repeat(30_000) } }));
    expect(await post()).toBe(200);
    await expect(post()).rejects.toMatchObject({ reason: 'connection_failed' });
    expect(receiver.requests).toHaveLength(2);
  });

  it('are not replaced if they were new, so that the receiver gets the request once', async () => {
    receiver.reply('reset');
    await expect(post()).rejects.toMatchObject({ reason: 'connection_failed' });
    expect(receiver.requests).toHaveLength(1);
  });

  it('are not reused once the name leads to another address', async () => {
    await post();
    // Nothing listens there.
    routes.set(`${HOST}:443`, `127.0.0.2:${receiver.port}`);
    await expect(post()).rejects.toMatchObject({ reason: 'connection_failed' });
    routes.set(`${HOST}:443`, receiver.address);
    expect(await post()).toBe(200);
    expect(receiver.connections()).toBe(1);
  });

  it('are closed with the client', async () => {
    await post();
    egress.close();
    await post();
    expect(receiver.connections()).toBe(2);
  });
});
