import { parseInfo } from './redis-info';

describe('parseInfo', () => {
  const body = '# Server\r\nprocess_id:42\r\nexecutable:/usr/bin/redis:server\r\n';
  const answer = `$${body.length}\r\n${body}\r\n`;

  it('reads the fields, and nothing but the first colon separates', () => {
    expect(parseInfo(answer)).toEqual(
      new Map([
        ['process_id', '42'],
        ['executable', '/usr/bin/redis:server'],
      ]),
    );
  });

  it('waits for the rest of an answer', () => {
    expect(parseInfo('')).toBeNull();
    expect(parseInfo('$9')).toBeNull();
    expect(parseInfo(answer.slice(0, 30))).toBeNull();
  });

  it('tells a refusal', () => {
    expect(() => parseInfo('-NOAUTH Authentication required.\r\n')).toThrow(/NOAUTH/);
  });
});
