import { constantClock } from '@lipsync/domain';
import { hideCovered } from './covered-mouths';

/** Frames of a drawing such as "..##..", in which "#" is covered, "|" a cut before the next frame and "/" a turn. */
function hiddenIn(drawing: string, rate = 25) {
  const frames = drawing.replaceAll(/[|/]/g, '');
  const cuts = new Uint8Array(frames.length);
  const turns = [...frames].map(() => false);
  [...drawing].reduce((frame, sign) => {
    if (sign !== '|' && sign !== '/') return frame + 1;
    cuts[frame] = 1;
    turns[frame] = sign === '/';
    return frame;
  }, 0);
  const covered = [...frames].map((sign) => sign === '#');
  const { hidden, shown } = hideCovered(
    covered,
    cuts,
    turns,
    constantClock({ num: rate, den: 1 }, frames.length),
  );
  return { hidden: hidden.map((is) => (is ? '#' : '.')).join(''), shown: [...shown] };
}

test('a mouth that nothing covers is shown whole, in every frame', () => {
  expect(hiddenIn('....|..')).toEqual({ hidden: '......', shown: [255, 255, 255, 255, 255, 255] });
});

test('a mouth fades within 0.12 s before a cover and after it, whatever the rate', () => {
  expect(hiddenIn('.....##.....').shown).toEqual([255, 255, 212, 127, 42, 0, 0, 42, 127, 212, 255, 255]);
  const fast = hiddenIn('........#........', 50).shown;
  expect(fast.slice(9)).toEqual([21, 63, 106, 148, 191, 233, 255, 255]);
  expect(fast.slice(0, 8)).toEqual(fast.slice(9).reverse());
});

test('nothing fades across a cut', () => {
  expect(hiddenIn('...|##|...').shown).toEqual([255, 255, 255, 0, 0, 255, 255, 255]);
});

test('where the turn changes, one mouth fades to the filmed one and the other from it', () => {
  expect(hiddenIn('....../......')).toEqual({
    hidden: '............',
    shown: [255, 255, 255, 212, 127, 42, 42, 127, 212, 255, 255, 255],
  });
});

test('a mouth that is free only for a moment between two covers stays as filmed', () => {
  expect(hiddenIn('#.......#').hidden).toBe('#########');
  expect(hiddenIn('#........#').hidden).toBe('#........#');
  expect(hiddenIn('#...|...#').hidden).toBe('#......#');
});
