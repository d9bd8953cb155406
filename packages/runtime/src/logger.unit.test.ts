import { createLogger, type LogLevel } from './logger';

function capture(level: LogLevel = 'info') {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { lines, logger: createLogger({ service: 'test', level, destination }) };
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

  it('writes the line of work that failed unexpectedly even at a level that drops the others', () => {
    const { lines, logger } = capture('error');
    logger.wide('http_request', { status: 200 });
    logger.wide('http_request', { status: 503 }, 'error');
    expect(lines).toEqual([expect.objectContaining({ level: 'error', event: 'http_request', status: 503 })]);
  });

  it('drops secrets that a caller passes by mistake', () => {
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
      stack: expect.stringContaining('logger.unit.test') as string,
    });
  });

  it('repeats no URL and no row that an error carries, whichever part of the program logs it', () => {
    const { lines, logger } = capture();
    const error = Object.assign(new Error('PUT https://s3.example.com/x?X-Amz-Signature=abc failed'), {
      code: 'P2002',
      meta: { driverAdapterError: { cause: { detail: 'Key (name)=(Ann) already exists' } } },
    });
    logger.error('failed', { error });
    logger.wide('job', { error });
    logger.child({ error }).info('later');
    expect(lines.map((line) => line.error)).toEqual(
      lines.map(() => ({
        name: 'Error',
        message: 'PUT <address> failed',
        code: 'P2002',
        stack: expect.stringContaining('at ') as string,
      })),
    );
    expect(lines).toHaveLength(3);
    expect(JSON.stringify(lines)).not.toMatch(/Ann|Signature/);
  });
});
