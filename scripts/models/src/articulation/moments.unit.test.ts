import { constantClock } from '@lipsync/domain';
import { framesInARow, spreadMoments, tellingMoments } from './moments';

const at = (rate: number, frames: number) => constantClock({ num: rate, den: 1 }, frames);

test('the moments are the middles of the longest sounds of each kind, and of the longest pause', () => {
  const sounds = [
    { ipa: 'm', start: 0.3, end: 0.36 },
    { ipa: 'iː', start: 0.36, end: 0.5 },
    { ipa: 'p', start: 0.5, end: 0.6 },
    { ipa: 'uː', start: 1.2, end: 1.4 },
    { ipa: 's', start: 1.4, end: 1.9 },
    { ipa: 'u', start: 2, end: 2.1 },
  ];
  expect(tellingMoments(sounds, at(25, 100))).toEqual([
    { shows: 'p', frame: 13 },
    { shows: 'uː', frame: 32 },
    { shows: 'iː', frame: 10 },
    { shows: 'silence', frame: 22 },
  ]);
  expect(tellingMoments(sounds, at(25, 20)).every(({ frame }) => frame < 20)).toBe(true);
});

test('moments of an unknown voice are spread over the output, frames in a row lie inside it', () => {
  expect(spreadMoments(60).map(({ frame }) => frame)).toEqual([5, 15, 25, 35, 45, 55]);
  expect(framesInARow(2, 3, at(25, 60)).map(({ frame }) => frame)).toEqual([50, 51, 52]);
  expect(framesInARow(0.5, 2, at(60, 60)).map(({ frame }) => frame)).toEqual([30, 31]);
  expect(() => framesInARow(2, 11, at(25, 60))).toThrow('the output has 60');
});
