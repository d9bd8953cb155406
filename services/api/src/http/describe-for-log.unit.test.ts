import { describeForLog } from './describe-for-log';

describe('describeForLog', () => {
  it('never repeats an address: it may be signed or hold a password', () => {
    const error = new Error('PUT https://s3.example.com/x?X-Amz-Signature=abc failed', {
      cause: new Error('connect postgresql://user:password@db/app'),
    });
    const described = JSON.stringify(describeForLog(error));
    expect(described).not.toContain('X-Amz-Signature');
    expect(described).not.toContain('password');
    expect(described).toContain('PUT <address> failed');
  });

  it('cuts long messages and keeps the stack', () => {
    const described = describeForLog(new RangeError('x'.repeat(10_000)));
    expect(described.message).toHaveLength(500);
    expect(described.name).toBe('RangeError');
    expect(described.stack).toContain('at ');
  });

  it('describes what is not an error', () => {
    expect(describeForLog('boom')).toEqual({ name: 'string', message: 'boom' });
  });
});
