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

  it('tells what every wrapper was thrown for, down to the error of the client, by name or code where it says no more', () => {
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

  it('describes what is not an error', () => {
    expect(describeForLog('boom')).toEqual({ name: 'string', message: 'boom' });
  });

  it('keeps the short words that say what failed, and what a dead child wrote last', () => {
    const crash = Object.assign(new Error('ended'), { reason: 'stopped', stderr: 'x'.repeat(5_000) + 'oom' });
    const { reason, stderr } = describeForLog(crash);
    expect(reason).toBe('stopped');
    expect(stderr).toMatch(/^x{3997}oom$/);
  });

  it('takes nothing of a message for a stack, and shows no object that is no error', () => {
    const error = new Error('no');
    error.stack = 'Error: no\n  at row: Ann';
    expect(describeForLog(error)).toEqual({ name: 'Error', message: 'no' });
    expect(describeForLog({ row: 'Ann' })).toEqual({ name: 'object', message: 'not an error' });
  });
});
