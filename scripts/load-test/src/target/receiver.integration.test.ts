import { signatureHeader } from '@lipsync/domain';
import { eventually } from '@lipsync/testkit';
import { AT, recordOf } from '../test/observations';
import { createEventLog, newRunToken, type ReceiverBehavior, receiverPath, startReceiver } from './receiver';

const SECRET = 'ab'.repeat(32);

function eventBody(id: string, recordId: string): string {
  return JSON.stringify({
    id,
    type: 'render.completed',
    created_at: AT,
    data: recordOf(recordId, { status: 'completed', stage: 'completed', progress_percent: 100 }),
  });
}

describe('the receiver of a load test', () => {
  const run = newRunToken();
  const log = createEventLog();
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  beforeAll(async () => {
    receiver = await startReceiver({
      host: '127.0.0.1',
      port: 0,
      run,
      signingSecrets: [SECRET, null],
      tls: undefined,
      slowSeconds: 0.001,
      log,
    });
  });
  afterAll(() => receiver.close());

  const send = async (
    path: string,
    id: string,
    over: { body?: string; signature?: string; signal?: AbortSignal } = {},
  ): Promise<number> => {
    const body = over.body ?? eventBody(id, `render of ${id}`);
    const response = await fetch(`http://127.0.0.1:${receiver.port}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'svc-event-id': id,
        'svc-delivery-id': `delivery of ${id}`,
        'svc-signature':
          over.signature ?? signatureHeader(SECRET, Math.floor(Date.now() / 1000), `delivery of ${id}`, body),
      },
      body,
      ...(over.signal === undefined ? {} : { signal: over.signal }),
    });
    return response.status;
  };
  const to = (behavior: ReceiverBehavior, customer = 0): string => receiverPath(run, customer, behavior);

  it('acknowledges an event, and recognizes its repetition', async () => {
    expect(await send(to('fast'), 'one')).toBe(204);
    expect(await send(to('slow'), 'one')).toBe(204);
    expect(log.events.get('one')).toMatchObject({
      recordId: 'render of one',
      type: 'render.completed',
      status: 'completed',
      acknowledged: true,
      attempts: 2,
      redeliveries: 1,
    });
    expect(log.eventsOf('render of one')).toHaveLength(1);
  });

  it('refuses the first attempt when told to fail, and accepts the second', async () => {
    expect(await send(to('failing'), 'two')).toBe(500);
    expect(log.events.get('two')?.acknowledged).toBe(false);
    expect(await send(to('failing'), 'two')).toBe(204);
    expect(log.events.get('two')).toMatchObject({ acknowledged: true, attempts: 2, redeliveries: 0 });
  });

  it('leaves the first attempt unanswered when told to hang, and accepts the second', async () => {
    const patience = new AbortController();
    const first = send(to('hanging'), 'three', { signal: patience.signal });
    await eventually(() => expect(log.events.get('three')?.attempts).toBe(1));
    patience.abort();
    await expect(first).rejects.toThrow();
    expect(await send(to('hanging'), 'three')).toBe(204);
    expect(log.events.get('three')).toMatchObject({ acknowledged: true, attempts: 2, redeliveries: 0 });
  });

  it('counts a wrong signature and ignores the rest of the request', async () => {
    const before = log.forgedAttempts;
    const signature = `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}`;
    expect(await send(to('fast'), 'forged', { signature })).toBe(401);
    expect(log.forgedAttempts).toBe(before + 1);
    expect(log.events.has('forged')).toBe(false);
  });

  it('accepts every signature of a customer whose secret it does not know', async () => {
    expect(await send(to('fast', 1), 'unverified', { signature: 'anything' })).toBe(204);
  });

  it.each([
    ['that is not JSON', 'not JSON'],
    ['of another form', JSON.stringify({ id: 'malformed' })],
    ['of an event whose id differs from its header', eventBody('another', 'render')],
  ])('counts a body %s', async (_, body) => {
    const before = log.malformedAttempts;
    expect(await send(to('fast'), 'malformed', { body })).toBe(400);
    expect(log.malformedAttempts).toBe(before + 1);
  });

  it('answers late events of another run with success, so that they stop, and does not count them', async () => {
    const before = [...log.events.keys()];
    expect(await send(receiverPath(newRunToken(), 0, 'fast'), 'late')).toBe(204);
    expect([...log.events.keys()]).toEqual(before);
  });

  it('finds its paths behind a proxy’s prefix, and knows no others', async () => {
    expect(await send(`/hooks${to('fast')}`, 'proxied')).toBe(204);
    expect(await send('/elsewhere', 'lost')).toBe(404);
    expect(await send(to('fast', 9), 'nobody')).toBe(404);
  });
});
