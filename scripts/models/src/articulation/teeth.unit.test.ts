import { LANDMARK_VALUES } from '@lipsync/engines';
import { sampleFace } from './face-samples';
import { type Picture } from './pictures';
import { teethChange } from './teeth';

const SIZE = { width: 200, height: 160 };

/** An open mouth whose teeth are vertical stripes, moved with the head and on their own: pixels. */
function frame({ head = 0, teeth = 0, gap = 12 }) {
  const landmarks = new Float32Array(LANDMARK_VALUES);
  const put = (number: number, x: number, y: number): void => landmarks.set([x + head, y], 2 * number);
  for (let i = 36; i < 42; i++) put(i, 50, 10);
  for (let i = 42; i < 48; i++) put(i, 150, 10);
  put(33, 100, 60);
  for (const [i, x] of [90, 100, 110].entries()) {
    put(61 + i, x, 92);
    put(67 - i, x, 92 + gap);
  }
  const data = new Uint8Array((SIZE.width * SIZE.height * 3) / 2).fill(128);
  for (let i = 0; i < SIZE.width * SIZE.height; i++) {
    const x = (i % SIZE.width) - head - teeth;
    data[i] = 140 + Math.round(40 * Math.sin(x / 3));
  }
  const picture: Picture = { ...SIZE, data };
  return sampleFace(picture, landmarks);
}

test('teeth that move with the head do not change', () => {
  expect(teethChange(frame({}), frame({ head: 5 }))).toBeLessThan(1);
});

test('teeth that jump within the mouth change', () => {
  expect(teethChange(frame({}), frame({ teeth: 9 }))).toBeGreaterThan(10);
});

test('a mouth that shows none is not judged', () => {
  expect(teethChange(frame({}), frame({ gap: 2 }))).toBeNull();
});
