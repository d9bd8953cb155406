import { type Clock, constantClock, secondsAt } from '@lipsync/domain';
import { coverOf, type FaceTrack, musetalkBoxes } from '@lipsync/engines';
import { buildTrack, fillGaps, LOOK_AHEAD, markJumps, secondsToSettle, settledFrames } from './build-track';

const face = (x: number): Float32Array =>
  Float32Array.from({ length: 136 }, (_, i) => (i % 2 === 0 ? x + i : 100 + i));

const clockOf = (frames: readonly unknown[], rate = 25): Clock =>
  constantClock({ num: rate, den: 1 }, frames.length);

/** What else there is to say of faces at 25 frames a second in one shot. */
const plain = (faces: readonly (Float32Array | null)[]) => ({
  analyzerVersion: 'v',
  faces,
  clock: clockOf(faces),
  held: faces.map(() => false),
  cuts: [],
  turns: [],
  colors: [],
  covers: new Map(),
  covered: faces.map(() => false),
  areApart: () => false,
});

describe('buildTrack', () => {
  const source = { width: 1000, height: 1000 };
  const jittering = Array.from({ length: 40 }, (_, i) => face(300 + (i % 2 === 0 ? 3 : -3)));

  test('the outline is steadied, the mouth stays as measured', () => {
    const track = buildTrack({ ...plain(jittering), source, cuts: [true] });
    const steps = Array.from({ length: 39 }, (_, i) =>
      Math.abs((track.landmarks[(i + 1) * 136] ?? 0) - (track.landmarks[i * 136] ?? 0)),
    );
    expect(Math.max(...steps)).toBeLessThan(3);
    for (let frame = 0; frame < 40; frame++) {
      const mouth = track.landmarks.slice(frame * 136 + 96, frame * 136 + 136);
      expect(mouth).toEqual(jittering[frame]?.slice(96));
    }
  });

  test('a face that has left the picture is no face', () => {
    const faces = [face(700), face(1000), face(-137), face(0)];
    const track = buildTrack({ ...plain(faces), source });
    expect([...track.found]).toEqual([1, 0, 0, 1]);
    expect(track.landmarks.slice(136, 3 * 136).every((value) => value === 0)).toBe(true);
  });

  test('a face that is lost fades to the filmed one, and from it when it is found again', () => {
    const faces = Array.from({ length: 22 }, (_, i) => (i > 8 && i < 12 ? null : face(300)));
    const track = buildTrack({ ...plain(faces), source });
    expect([...track.found.slice(8, 13)]).toEqual([1, 0, 0, 0, 1]);
    expect([...track.shown.slice(5, 16)]).toEqual([255, 212, 127, 42, 0, 0, 0, 42, 127, 212, 255]);
  });

  test('a mouth that the border of the picture cuts off fades to the filmed one, and is no mouth', () => {
    // The mouth reaches from 96 to 134 pixels further right, and the eyes are 12 apart.
    const leaving = [800, 830, 850, 859, 866, 900].map(face);
    const track = buildTrack({ ...plain(leaving), source });
    expect([...track.found]).toEqual([1, 1, 1, 1, 0, 0]);
    expect([...track.shown]).toEqual([255, 212, 127, 42, 0, 0]);
  });

  test('a frame whose mouth is covered has no face, and only the others keep their covers', () => {
    const faces = [face(300), face(300), face(300), face(300)];
    const cover = coverOf((column) => column < 3);
    const covered = [false, true, false, false];
    const covers = new Map([
      [0, cover],
      [1, cover],
    ]);
    const track = buildTrack({ ...plain(faces), source, covers, covered });
    expect([...track.found]).toEqual([1, 0, 1, 1]);
    expect(track.landmarks.slice(136, 2 * 136).every((value) => value === 0)).toBe(true);
    expect([...track.shown]).toEqual([42, 0, 42, 127]);
    expect([...track.covers]).toEqual([[0, cover]]);
  });

  test('the start of a video gives the same crops, whether all of it or only the frames ahead were looked at', () => {
    const wanted = 30;
    const ahead = Math.round(LOOK_AHEAD * 25);
    // A gap that begins where the widest smoothing of the wanted frames ends, and closes just in time.
    const hidden = (frame: number): boolean => frame >= wanted + ahead - 6 && frame < wanted + ahead - 1;
    const breathing = (frame: number): Float32Array => face(300).map((v) => v * (1 + ((frame * 7) % 5) / 50));
    const trackOf = (frames: number): FaceTrack => {
      const faces = Array.from({ length: frames }, (_, i) => (hidden(i) ? null : breathing(i)));
      const input = { ...plain(faces), source };
      fillGaps(faces, input);
      return buildTrack(input);
    };
    const cropsOf = (track: FaceTrack): Float32Array =>
      musetalkBoxes(track, { shift: 0, margin: 10 }).slice(0, wanted * 4);
    const whole = trackOf(300);
    const part = trackOf(wanted + ahead);
    expect(cropsOf(part)).toEqual(cropsOf(whole));

    // Engines may look further than MuseTalk does: the rows within their reach also match those of the whole video.
    const reached = (wanted + ahead - 10) * 136;
    expect(part.landmarks.slice(0, reached)).toEqual(whole.landmarks.slice(0, reached));
    const short = trackOf(wanted + ahead - 1);
    expect(short.landmarks.slice(0, reached)).not.toEqual(whole.landmarks.slice(0, reached));
  });

  test('a video without frames has an empty track', () => {
    const track = buildTrack({ ...plain([]), source });
    expect([track.frames, track.landmarks.length, track.found.length]).toEqual([0, 0, 0]);
  });
});

test.each([
  ['12', 12, 1],
  ['24', 24, 1],
  ['29.97', 30_000, 1001],
  ['59.94', 60_000, 1001],
])('of a video at %s frames a second, the seconds asked for are settled', (_, num, den) => {
  for (let wanted = 1; wanted < 3; wanted += 0.017) {
    const frames = Math.ceil((secondsToSettle(wanted) * num) / den);
    const clock = constantClock({ num, den }, frames);
    expect(secondsAt(clock, settledFrames(clock))).toBeGreaterThanOrEqual(wanted);
  }
});

describe('fillGaps', () => {
  test('up to five missing frames are interpolated, six are left', () => {
    const five = [face(0), null, null, null, null, null, face(60)];
    fillGaps(five, plain(five));
    expect(five[2]).toEqual(face(20));
    const six = [face(0), null, null, null, null, null, null, face(60)];
    fillGaps(six, plain(six));
    expect(six.slice(1, 7)).toEqual([null, null, null, null, null, null]);
  });

  test('at any rate as much time is filled, in proportion to it', () => {
    const gap = (missing: number) => [face(0), ...Array<null>(missing).fill(null), face(60)];
    for (const [rate, most] of [
      [5, 1],
      [24, 4],
      [50, 10],
      [60, 12],
    ] as const) {
      const [filled, left] = [gap(most), gap(most + 1)];
      for (const faces of [filled, left]) fillGaps(faces, { ...plain(faces), clock: clockOf(faces, rate) });
      expect([filled.includes(null), left.includes(null)]).toEqual([false, true]);
    }
    const uneven = gap(1);
    const clock = { timescale: 100, ticks: Uint32Array.of(0, 4, 16, 20) };
    fillGaps(uneven, { ...plain(uneven), clock });
    expect(uneven[1]).toEqual(face(15));
  });

  test('a picture that is held for long is followed by the next one without a gap', () => {
    const faces = [face(0), null, null, null, null, null, null, null, face(60)];
    fillGaps(faces, { ...plain(faces), held: faces.map((points) => points === null) });
    expect(faces).not.toContain(null);
    const missed = [face(0), ...Array<null>(6).fill(null), null, face(60)];
    fillGaps(missed, { ...plain(missed), held: missed.map((_, frame) => frame > 0 && frame < 7) });
    expect(missed).not.toContain(null);
  });

  test('a gap that holds a cut, or has no face on one side, is left', () => {
    const cut = [face(0), null, null, face(60)];
    fillGaps(cut, { ...plain(cut), cuts: [true, false, true, false] });
    expect(cut[1]).toBeNull();
    const open = [null, face(0), null];
    fillGaps(open, plain(open));
    expect([open[0], open[2]]).toEqual([null, null]);
  });
});

/** Landmarks on a circle. */
function circle(x: number, y: number, size: number): Float32Array {
  return Float32Array.from({ length: 136 }, (_, i) => {
    const angle = ((i >> 1) / 68) * 2 * Math.PI;
    return i % 2 === 0 ? x + (size / 2) * Math.cos(angle) : y + (size / 2) * Math.sin(angle);
  });
}

const jumpsOf = (faces: readonly (Float32Array | null)[], cuts: boolean[] = [], rate = 25): number[] => {
  const marked = faces.map((_, frame) => cuts[frame] === true);
  markJumps(faces, { ...plain(faces), cuts: marked, clock: clockOf(faces, rate) });
  return marked.flatMap((isMarked, frame) => (isMarked ? frame : []));
};

describe('a face that jumps inside a shot', () => {
  test.each([
    ['to somebody else’s place', circle(440, 200, 80)],
    ['by an editor’s zoom of a seventh', circle(200, 200, 120 * 1.15)],
    ['by a step to the side of half its width', circle(200 + 60, 200, 120)],
  ])('%s is cut there, and nowhere else', (_, after) => {
    const before = circle(200, 200, 120);
    expect(jumpsOf([before, before, after, after])).toEqual([2]);
  });

  test('keeps its crops on both sides of the jump, and is in no place between', () => {
    const faces = Array.from({ length: 40 }, (_, i) => {
      if (i >= 18 && i < 21) return null;
      return i < 20 ? circle(200, 200, 120) : circle(440, 220, 80);
    });
    const cuts = faces.map((_, frame) => frame === 0);
    markJumps(faces, { ...plain(faces), cuts });
    fillGaps(faces, { ...plain(faces), cuts });
    const picture = { width: 640, height: 480 };
    const track = buildTrack({ ...plain(faces), source: picture, cuts });
    expect([...track.found.slice(17, 22)]).toEqual([1, 0, 0, 0, 1]);
    const boxes = musetalkBoxes(track, { shift: 0, margin: 10 });
    const boxOf = (frame: number) => Array.from(boxes.slice(frame * 4, frame * 4 + 4));
    expect(boxOf(17)).toEqual(boxOf(5));
    expect(boxOf(21)).toEqual(boxOf(35));
  });
});

test('a head that turns, nods, leans in or speaks is not cut, nor a small one whose landmarks are unsure', () => {
  for (const rate of [12, 25, 60]) {
    const lively = Array.from({ length: 4 * rate }, (_, frame) => {
      const i = (frame * 25) / rate;
      return circle(300 + 60 * Math.sin(i / 3), 200 + 20 * Math.sin(i), 120 * (1 + 0.05 * Math.sin(i * 1.3)));
    });
    expect(jumpsOf(lively, [], rate)).toEqual([]);
  }
  const unsure = Array.from({ length: 100 }, (_, i) => circle(300 + (i % 2), 200, 16 + (i % 3)));
  expect(jumpsOf(unsure)).toEqual([]);
});

test('across a cut, and after an absence that is not bridged, there is nothing to jump from', () => {
  const [here, there] = [circle(200, 200, 120), circle(440, 200, 80)];
  expect(jumpsOf([here, there], [true, true])).toEqual([0, 1]);
  expect(jumpsOf([here, null, null, null, null, null, null, there])).toEqual([]);
});
