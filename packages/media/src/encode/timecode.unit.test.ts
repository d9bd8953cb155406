import { constantClock } from '@lipsync/domain';
import { timecodeOf } from './timecode';

const slowed = (fps: number): { num: number; den: number } => ({ num: fps * 1000, den: 1001 });
const whole = (num: number): { num: number; den: number } => ({ num, den: 1 });

it.each([
  ['as it is', '10:20:30:12', whole(25), whole(25), '10:20:30:12'],
  ['with dropped numbers', '01:00:00;02', slowed(30), slowed(30), '01:00:00;02'],
  ['with dropped numbers, as Matroska has them', '01:00:00.02', slowed(30), slowed(30), '01:00:00;02'],
  ['at television’s rate without dropping', '01:00:00:02', slowed(24), slowed(24), '01:00:00:02'],
  ['with fields counted as frames', '10:20:30:12', whole(25), whole(50), '10:20:30:24'],
  ['with dropped numbers of fields', '01:00:00;02', slowed(30), slowed(60), '01:00:00;04'],
  ['with every second frame counted', '10:20:30:90', whole(100), whole(50), '10:20:30:45'],
  ['at a rate that the container did not claim', '10:20:30:12', null, whole(25), '10:20:30:12'],
] as const)('the timecode comes back %s', (_how, timecode, rate, output, expected) => {
  expect(timecodeOf({ timecode, rate }, constantClock(output, 3))).toBe(expected);
});

it.each([
  ['the source has none', undefined, whole(25)],
  ['it is no timecode', '10:20:30', whole(25)],
  ['it has more frames than a second', '10:20:30:25', whole(25)],
  ['numbers are dropped at a rate that drops none', '10:20:30;12', whole(25)],
  ['it does not count the rate', '10:20:30:12', whole(15)],
  ['the rate is near one that it counts', '10:20:30:12', { num: 2990, den: 100 }],
] as const)('there is no timecode where %s', (_why, timecode, rate) => {
  const video = { rate, ...(timecode === undefined ? {} : { timecode }) };
  expect(timecodeOf(video, constantClock(rate, 3))).toBeUndefined();
});

it('there is no timecode where frames last for different times', () => {
  const clock = { timescale: 25, ticks: Uint32Array.from([0, 1, 3, 4]) };
  expect(timecodeOf({ timecode: '10:20:30:12', rate: null }, clock)).toBeUndefined();
});
