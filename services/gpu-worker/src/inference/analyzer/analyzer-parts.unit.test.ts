import { facePatch, landmarkBounds } from './face-patch';
import { analysisSize } from './analysis-size';
import { buildTrack, LOOK_AHEAD_FRAMES } from './build-track';
import { fillGaps } from './fill-gaps';
import { MIRRORED_LANDMARKS } from './mirrored-landmarks';
import { overlap } from './overlap';
import { blankPicture, mirrorRows } from './picture';
import { createCutDetector } from './shot-cuts';

const face = (x: number): Float32Array =>
  Float32Array.from({ length: 136 }, (_, i) => (i % 2 === 0 ? x + i : 100 + i));

describe('analysisSize', () => {
  test('shrinks to 960 on the longer side, evenly, and never enlarges', () => {
    expect(analysisSize({ width: 1080, height: 1920 })).toEqual({ width: 540, height: 960 });
    expect(analysisSize({ width: 640, height: 480 })).toEqual({ width: 640, height: 480 });
    expect(analysisSize({ width: 641, height: 3 })).toEqual({ width: 642, height: 4 });
  });
});

describe('mirroring', () => {
  test('landmarks pair up: mirrored twice they are themselves', () => {
    expect([...MIRRORED_LANDMARKS].sort((a, b) => a - b)).toEqual(Array.from({ length: 68 }, (_, i) => i));
    MIRRORED_LANDMARKS.forEach((twin, index) => expect(MIRRORED_LANDMARKS[twin]).toBe(index));
  });

  test('rows are reversed pixel by pixel, colours keep their order', () => {
    const picture = blankPicture(3, 2);
    picture.data.set([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    mirrorRows(picture);
    expect([...picture.data]).toEqual([7, 8, 9, 4, 5, 6, 1, 2, 3, 17, 18, 19, 14, 15, 16, 11, 12, 13]);
  });
});

describe('overlap', () => {
  const box = { x1: 0, y1: 0, x2: 10, y2: 10 };
  test('is intersection over union', () => {
    expect(overlap(box, box)).toBe(1);
    expect(overlap(box, { x1: 5, y1: 0, x2: 15, y2: 10 })).toBeCloseTo(1 / 3);
    expect(overlap(box, { x1: 10, y1: 10, x2: 20, y2: 20 })).toBe(0);
  });
});

describe('facePatch', () => {
  test('is turned with the eyes and as wide as the turned landmarks', () => {
    const points = new Float32Array(136).fill(50);
    const put = (index: number, x: number, y: number): void => points.set([x, y], index * 2);
    for (let i = 36; i < 42; i++) put(i, 40, 40);
    for (let i = 42; i < 48; i++) put(i, 60, 60);
    put(0, 20, 20);
    put(16, 80, 80);

    const patch = facePatch(points, 1.5);

    expect(patch.angle).toBeCloseTo(Math.PI / 4);
    expect(patch.x).toBeCloseTo(50);
    expect(patch.y).toBeCloseTo(50);
    expect(patch.side).toBeCloseTo(1.5 * Math.hypot(60, 60));
    expect(landmarkBounds(points)).toEqual({ x1: 20, y1: 20, x2: 80, y2: 80 });
  });
});

describe('createCutDetector', () => {
  const flat = (value: number): ReturnType<typeof blankPicture> => {
    const picture = blankPicture(64, 64);
    picture.data.fill(value);
    return picture;
  };

  test('the first frame starts a shot, a repeated one does not, another scene does', () => {
    const isCut = createCutDetector();
    expect([flat(40), flat(40), flat(200), flat(200)].map(isCut)).toEqual([true, false, true, false]);
  });

  test('something an eighth of the picture wide that moves across it is no cut', () => {
    const isCut = createCutDetector();
    const pictures = [0, 1, 2, 3, 4, 5].map((step) => {
      const picture = flat(40);
      for (let y = 0; y < 64; y++)
        picture.data.fill(220, (y * 64 + step * 8) * 3, (y * 64 + step * 8 + 8) * 3);
      return picture;
    });
    expect(pictures.map(isCut).slice(1)).not.toContain(true);
  });
});

describe('fillGaps', () => {
  const none: boolean[] = [];

  test('up to five missing frames are interpolated, six are left', () => {
    const five = [face(0), null, null, null, null, null, face(60)];
    fillGaps(five, none);
    expect(five[2]).toEqual(face(20));
    const six = [face(0), null, null, null, null, null, null, face(60)];
    fillGaps(six, none);
    expect(six.slice(1, 7)).toEqual([null, null, null, null, null, null]);
  });

  test('a gap that holds a cut, or has no face on one side, is left', () => {
    const cut = [face(0), null, null, face(60)];
    fillGaps(cut, [true, false, true, false]);
    expect(cut[1]).toBeNull();
    const open = [null, face(0), null];
    fillGaps(open, none);
    expect([open[0], open[2]]).toEqual([null, null]);
  });
});

describe('buildTrack', () => {
  const source = { width: 1000, height: 1000 };
  const jittering = Array.from({ length: 40 }, (_, i) => face(300 + (i % 2 === 0 ? 3 : -3)));

  test('the box is steadied, the mouth stays as measured', () => {
    const track = buildTrack({ analyzerVersion: 'v', source, faces: jittering, cuts: [true] });
    const lefts = Array.from(
      { length: 39 },
      (_, i) => (track.boxes[i * 4 + 4] ?? 0) - (track.boxes[i * 4] ?? 0),
    );
    expect(Math.max(...lefts.map(Math.abs))).toBeLessThan(1.5);
    for (let frame = 0; frame < 40; frame++) {
      const mouth = track.landmarks.slice(frame * 136 + 96, frame * 136 + 136);
      expect(mouth).toEqual(jittering[frame]?.slice(96));
    }
  });

  test('the box stays inside the picture', () => {
    const track = buildTrack({
      analyzerVersion: 'v',
      source: { width: 360, height: 230 },
      faces: jittering,
      cuts: [],
    });
    expect(Math.max(...track.boxes)).toBe(360);
    expect(track.boxes[3]).toBe(230);
  });

  test('the start of a video has the same track, whether all of it or only the frames ahead were looked at', () => {
    const wanted = 30;
    // From the last frame that reaches the smoothing of the wanted ones on, the face is hidden until just in time.
    const hidden = (frame: number): boolean =>
      frame >= wanted + LOOK_AHEAD_FRAMES - 6 && frame < wanted + LOOK_AHEAD_FRAMES - 1;
    const breathing = (frame: number): Float32Array => face(300).map((v) => v * (1 + ((frame * 7) % 5) / 50));
    const startOf = (frames: number): Float32Array => {
      const faces = Array.from({ length: frames }, (_, i) => (hidden(i) ? null : breathing(i)));
      fillGaps(faces, []);
      return buildTrack({ analyzerVersion: 'v', source, faces, cuts: [] }).boxes.slice(0, wanted * 4);
    };
    const whole = startOf(200);
    expect(startOf(wanted + LOOK_AHEAD_FRAMES)).toEqual(whole);
    expect(startOf(wanted + LOOK_AHEAD_FRAMES - 1)).not.toEqual(whole);
  });

  test('a video without frames has an empty track', () => {
    const track = buildTrack({ analyzerVersion: 'v', source, faces: [], cuts: [] });
    expect([track.frames, track.boxes.length, track.found.length]).toEqual([0, 0, 0]);
  });
});
