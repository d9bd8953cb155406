import { buildTrack } from './build-track';
import { fillGaps } from './fill-gaps';
import { markJumps } from './mark-jumps';
import { musetalkBoxes } from '@lipsync/engines';

/** Landmarks on a circle. */
function face(x: number, y: number, size: number): Float32Array {
  return Float32Array.from({ length: 136 }, (_, i) => {
    const angle = ((i >> 1) / 68) * 2 * Math.PI;
    return i % 2 === 0 ? x + (size / 2) * Math.cos(angle) : y + (size / 2) * Math.sin(angle);
  });
}

const jumpsOf = (faces: readonly (Float32Array | null)[], cuts: boolean[] = []): number[] => {
  const marked = faces.map((_, frame) => cuts[frame] === true);
  markJumps(faces, marked);
  return marked.flatMap((isMarked, frame) => (isMarked ? frame : []));
};

describe('a face that jumps inside a shot', () => {
  test.each([
    ['to somebody else’s place', face(440, 200, 80)],
    ['by an editor’s zoom of a seventh', face(200, 200, 120 * 1.15)],
    ['by a step to the side of half its width', face(200 + 60, 200, 120)],
  ])('%s is cut there, and nowhere else', (_, after) => {
    const before = face(200, 200, 120);
    expect(jumpsOf([before, before, after, after])).toEqual([2]);
  });

  test('keeps its crops on both sides of the jump, and is in no place between', () => {
    const faces = Array.from({ length: 40 }, (_, i) => {
      if (i >= 18 && i < 21) return null;
      return i < 20 ? face(200, 200, 120) : face(440, 220, 80);
    });
    const cuts = faces.map((_, frame) => frame === 0);
    markJumps(faces, cuts);
    fillGaps(faces, cuts);
    const track = buildTrack({ analyzerVersion: 'v', source: { width: 640, height: 480 }, faces, cuts });
    expect([...track.found.slice(17, 22)]).toEqual([1, 0, 0, 0, 1]);
    const boxes = musetalkBoxes(track, { shift: 0, margin: 10 });
    const boxOf = (frame: number) => Array.from(boxes.slice(frame * 4, frame * 4 + 4));
    expect(boxOf(17)).toEqual(boxOf(5));
    expect(boxOf(21)).toEqual(boxOf(35));
  });
});

test('a head that turns, nods, leans in or speaks is not cut, nor a small one whose landmarks are unsure', () => {
  const lively = Array.from({ length: 100 }, (_, i) =>
    face(300 + 60 * Math.sin(i / 3), 200 + 20 * Math.sin(i), 120 * (1 + 0.05 * Math.sin(i * 1.3))),
  );
  expect(jumpsOf(lively)).toEqual([]);
  const unsure = Array.from({ length: 100 }, (_, i) => face(300 + (i % 2), 200, 16 + (i % 3)));
  expect(jumpsOf(unsure)).toEqual([]);
});

test('across a cut, and after an absence that is not bridged, there is nothing to jump from', () => {
  const [here, there] = [face(200, 200, 120), face(440, 200, 80)];
  expect(jumpsOf([here, there], [true, true])).toEqual([0, 1]);
  expect(jumpsOf([here, null, null, null, null, null, null, there])).toEqual([]);
});
