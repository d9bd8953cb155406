import { createOutageNotice } from './outage-notice';

it('reports the beginning and the end of each outage, and nothing else', () => {
  const told: string[] = [];
  const notice = createOutageNotice({
    begins: (error) => void told.push(String(error)),
    ends: () => void told.push('over'),
  });
  notice.worked();
  notice.failed('first');
  notice.failed('second');
  notice.worked();
  notice.worked();
  notice.failed('third');
  expect(told).toEqual(['first', 'over', 'third']);
});
