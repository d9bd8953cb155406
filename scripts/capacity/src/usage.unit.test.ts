import { parseInfo } from './usage';

describe('parseInfo', () => {
  const body = '# Server\r\nprocess_id:42\r\nexecutable:/usr/bin/redis:server\r\n';
  const answer = `$${body.length}\r\n${body}\r\n`;

  it('reads the fields, which only the first colon separates from their values', () => {
    expect(parseInfo(answer)).toEqual(
      new Map([
        ['process_id', '42'],
        ['executable', '/usr/bin/redis:server'],
      ]),
    );
  });

  it('waits for the rest of a reply', () => {
    expect(parseInfo('')).toBeNull();
    expect(parseInfo('$9')).toBeNull();
    expect(parseInfo(answer.slice(0, 30))).toBeNull();
  });

  it('reports a refusal', () => {
    expect(() => parseInfo('-NOAUTH Authentication required.\r\n')).toThrow(/NOAUTH/);
  });
});
