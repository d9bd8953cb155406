import { createLogger } from './logger';

function capture() {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { lines, logger: createLogger({ service: 'test', destination }) };
}

describe('logger', () => {
  it('writes one JSON line per unit of work with all its fields', () => {
    const { lines, logger } = capture();
    logger.child({ worker_id: 'w1' }).wide('delivery_attempted', { attempt: 2 });
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'info',
        service: 'test',
        event: 'delivery_attempted',
        attempt: 2,
        worker_id: 'w1',
      }),
    ]);
  });

  it('drops secrets that a caller hands over by mistake', () => {
    const { lines, logger } = capture();
    logger.info('request', {
      authorization: 'Bearer svc_1',
      headers: { authorization: 'Bearer svc_2' },
      body: 'b',
    });
    expect(JSON.stringify(lines)).not.toMatch(/svc_|"b"/);
  });

  it('keeps message and stack of an error', () => {
    const { lines, logger } = capture();
    logger.error('failed', { error: new Error('why') });
    expect(lines[0]?.error).toMatchObject({
      message: 'why',
      stack: expect.stringContaining('why') as string,
    });
  });
});
