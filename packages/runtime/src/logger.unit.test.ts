import { createLogger, describeForLog, type LogLevel } from './logger';

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

describe('describeForLog', () => {
  it("shows the reason of every wrapper down to the client's error, by name or code where there is no message", () => {
    const refused = Object.assign(new Error(''), { name: 'InvalidAccessKeyId' });
    const ping = new Error('ping: rejected', { cause: refused });
    expect(describeForLog(new Error('a transfer failed', { cause: ping })).message).toBe(
      'a transfer failed (ping: rejected; InvalidAccessKeyId)',
    );
    const away = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(describeForLog(new Error('ping', { cause: away })).message).toBe(
      'ping (AggregateError: ECONNREFUSED)',
    );
  });

  it('cuts long messages and keeps the stack', () => {
    const described = describeForLog(new RangeError('x'.repeat(10_000)));
    expect(described.message).toHaveLength(500);
    expect(described.name).toBe('RangeError');
    expect(described.stack).toContain('at ');
  });

  it('does work in proportion to the length of a text, also of one that might be an address from every second letter', () => {
    const microseconds = (characters: number): number => {
      const error = new Error('a.'.repeat(characters / 2));
      const runs = Array.from({ length: 3 }, () => {
        const before = process.cpuUsage();
        describeForLog(error);
        // The kernel knows the sum exactly, and its parts only to a tick.
        const { user, system } = process.cpuUsage(before);
        return user + system;
      });
      return Math.max(1, Math.min(...runs));
    };
    // Eight times the length: some eight times the work, and sixty-four times if it grew with the square.
    expect(microseconds(160_000) / microseconds(20_000)).toBeLessThan(24);
  });

  it('removes an address whatever precedes it', () => {
    const { message } = describeForLog(new Error(`1https://a/b ${'x'.repeat(50)}://user:password@host`));
    expect(message).not.toMatch(/a\/b|password/);
  });

  it('keeps the short words that say what failed, and the last output of a dead child', () => {
    const crash = Object.assign(new Error('ended'), { reason: 'stopped', stderr: 'x'.repeat(5_000) + 'oom' });
    const { reason, stderr } = describeForLog(crash);
    expect(reason).toBe('stopped');
    expect(stderr).toMatch(/^x{3997}oom$/);
  });

  it('does not take part of a message for a stack, and shows no object that is not an error', () => {
    const error = new Error('no');
    error.stack = 'Error: no\n  at row: Ann';
    expect(describeForLog(error)).toEqual({ name: 'Error', message: 'no' });
    expect(describeForLog('boom')).toEqual({ name: 'string', message: 'boom' });
    expect(describeForLog({ row: 'Ann' })).toEqual({ name: 'object', message: 'not an error' });
  });
});
