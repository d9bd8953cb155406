import { type OtlpCollector, startOtlpCollector } from '@lipsync/testkit';
import { createOtlpTracing, NO_TRACING, type Tracing } from './tracing';

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('createOtlpTracing', () => {
  let collector: OtlpCollector;
  let outages: (Error | null)[];

  beforeEach(async () => {
    collector = await startOtlpCollector();
    outages = [];
  });
  afterEach(() => collector.close());

  const open = (ratio = 1): Promise<Tracing> =>
    createOtlpTracing({
      endpoint: `${collector.endpoint}/`,
      ratio,
      resource: { 'service.name': 'test' },
      onOutage: (error) => void outages.push(error),
    });

  it('sends a span with its children, its attributes and its place in a trace, before it is closed', async () => {
    const tracing = await open();
    const span = tracing.startSpan('request', {
      kind: 'server',
      attributes: { kept: 'yes', dropped: undefined },
    });
    span.rename('create_render');
    await span.during('part', async (part) => part.set({ bytes: 7 }));
    span.end();
    await tracing.close();
    const [part, request] = collector.spans();
    expect(request).toMatchObject({
      service: 'test',
      name: 'create_render',
      kind: 2,
      failed: false,
      traceId: span.traceId,
      parentSpanId: undefined,
      attributes: { kept: 'yes' },
    });
    expect(part).toMatchObject({
      name: 'part',
      traceId: span.traceId,
      parentSpanId: request?.spanId,
      attributes: { bytes: 7 },
    });
    expect(outages).toEqual([]);
  });

  it('continues the given trace, and passes on its own place in it', async () => {
    const tracing = await open(0);
    const first = tracing.startSpan('first', { kind: 'server', parent: CALLER });
    const second = tracing.startSpan('second', { kind: 'consumer', parent: first.traceParent });
    first.end();
    second.end();
    await tracing.close();
    const [one, two] = collector.spans();
    expect(one).toMatchObject({ traceId: CALLER.slice(3, 35), parentSpanId: 'b7ad6b7169203331' });
    expect(two).toMatchObject({ traceId: one?.traceId, parentSpanId: one?.spanId });
  });

  it.each([[undefined], [null], [''], ['nonsense'], [`${CALLER}, ${CALLER}`], [`00-${'0'.repeat(32)}-x-01`]])(
    'begins a trace if there is none to continue: %s',
    async (parent) => {
      const tracing = await open();
      const span = tracing.startSpan('request', { kind: 'server', parent });
      expect(span.traceParent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(span.traceId).not.toBe(CALLER.slice(3, 35));
      await tracing.close();
    },
  );

  it('has a trace id even for traces that are not sampled, and tells later services not to sample them', async () => {
    const tracing = await open(0);
    const span = tracing.startSpan('request', { kind: 'server' });
    expect(span.traceParent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    const next = tracing.startSpan('job', { kind: 'consumer', parent: span.traceParent });
    expect(next.traceId).toBe(span.traceId);
    span.end();
    next.end();
    await tracing.close();
    expect(collector.spans()).toEqual([]);
  });

  it('marks failed work only by the name of its error, and passes the error on', async () => {
    const tracing = await open();
    const span = tracing.startSpan('job', { kind: 'consumer' });
    const error = new RangeError('GET https://s3.example.com/x?X-Amz-Signature=abc failed');
    await expect(span.during('upload', () => Promise.reject(error))).rejects.toBe(error);
    span.end('storage_failed');
    await tracing.close();
    expect(collector.spans()).toMatchObject([
      { name: 'upload', failed: true, attributes: { 'error.type': 'RangeError' } },
      { name: 'job', failed: true, attributes: { 'error.type': 'storage_failed' } },
    ]);
    expect(JSON.stringify(collector.spans())).not.toContain('Signature');
  });

  it('reports a collector that refuses spans, and closes all the same', async () => {
    collector.answerWith(400);
    const tracing = await open();
    tracing.startSpan('lost', { kind: 'server' }).end();
    await tracing.close();
    expect(outages).toEqual([expect.any(Error)]);
  });
});

describe('NO_TRACING', () => {
  it('passes the trace of a caller on as it came, also to the parts of the work', async () => {
    const span = NO_TRACING.startSpan('job', { kind: 'consumer', parent: CALLER });
    expect([span.traceId, span.traceParent]).toEqual([CALLER.slice(3, 35), CALLER]);
    expect(await span.during('part', async (part) => part.traceId)).toBe(span.traceId);
  });

  it.each([
    [undefined],
    [null],
    ['nonsense'],
    [`${CALLER}, ${CALLER}`],
    [CALLER.toUpperCase()],
    [`00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    [`00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
  ])('begins a trace that is not recorded, for log lines to share: %s', async (parent) => {
    const span = NO_TRACING.startSpan('job', { kind: 'consumer', parent });
    expect(span.traceParent).toBe(`00-${span.traceId}-${span.traceParent?.slice(36, 52)}-00`);
    expect(CALLER).not.toContain(span.traceId);
    const next = NO_TRACING.startSpan('webhook', { kind: 'client', parent: span.traceParent });
    expect([next.traceId, await span.during('part', async (part) => part.traceId)]).toEqual([
      span.traceId,
      span.traceId,
    ]);
    expect(NO_TRACING.startSpan('job', { kind: 'consumer', parent }).traceId).not.toBe(span.traceId);
  });
});
