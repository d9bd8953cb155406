import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks';
import { drawnTrack } from '../test/clips';
import { highsyncFaceBox, highsyncFaces, highsyncRuns } from './faces';

describe('highsync faces', () => {
  const PICTURE = { width: 640, height: 480 };

  interface Drawn {
    readonly x?: number;
    readonly y?: number;
    /** Width of the jaw. The height of the face is scaled by `stretch` in addition. */
    readonly size?: number;
    readonly stretch?: number;
    /** How far the chin has dropped, as a fraction of the size. */
    readonly jaw?: number;
  }

  /** A face of simple proportions with its nose base at (x, y): brows 0.36 sizes above it, the chin 0.36 below. */
  function face({ x = 300, y = 240, size = 100, stretch = 1, jaw = 0 }: Drawn = {}): Float32Array {
    const points = new Float32Array(LANDMARK_VALUES);
    for (let i = 0; i < 68; i++) {
      const across = i <= 16 ? (i - 8) / 16 : i < 27 ? (i - 21.5) / 12 : 0;
      const down = i <= 16 ? 0.36 * Math.cos(((i - 8) / 8) * (Math.PI / 2)) : i < 27 ? -0.36 : 0;
      const drop = i > 3 && i < 13 ? jaw : 0;
      points.set([x + across * size, y + stretch * size * (down + drop)], i * 2);
    }
    return points;
  }

  const trackOf = (faces: readonly (Float32Array | null)[], cuts?: readonly number[]): FaceTrack =>
    drawnTrack(faces, PICTURE, cuts);

  const row = (boxes: Float32Array, frame: number): number[] =>
    Array.from(boxes.subarray(frame * 4, frame * 4 + 4));
  const repeat = (count: number, drawn: (i: number) => Drawn): Float32Array[] =>
    Array.from({ length: count }, (_, i) => face(drawn(i)));

  describe('the tight box', () => {
    test('reaches from the forehead to the chin and is as wide as the jaw', () => {
      const box = highsyncFaceBox(face());
      expect(box?.x1).toBeCloseTo(250, 3);
      expect(box?.x2).toBeCloseTo(350, 3);
      expect(box?.y2).toBeCloseTo(276, 3);
      // 0.8 of brow to nose above the brows.
      expect(box?.y1).toBeCloseTo(240 - 36 - 0.8 * 36, 3);
    });

    test('has an upper edge that does not move with the jaw', () => {
      expect(highsyncFaceBox(face({ jaw: 0.2 }))?.y1).toBe(highsyncFaceBox(face())?.y1);
      expect(highsyncFaceBox(face({ jaw: 0.2 }))?.y2).toBeCloseTo(296, 3);
    });

    test('includes the forehead of a tilted head in the direction in which it leans', () => {
      const upright = face({ x: 0, y: 0 });
      const turn = Math.PI / 6;
      const tilted = upright.slice();
      for (let i = 0; i < tilted.length; i += 2) {
        const [x = 0, y = 0] = upright.subarray(i, i + 2);
        tilted.set([x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn)], i);
      }
      const box = highsyncFaceBox(tilted);
      // The lifted brow on the right-hand side: 37.5 across, 64.8 up before the turn.
      expect(box?.x2).toBeCloseTo(37.5 * Math.cos(turn) + 64.8 * Math.sin(turn), 1);
    });

    test('is missing for a face of a few pixels', () => {
      expect(highsyncFaceBox(face({ size: 12 }))).toBeNull();
    });
  });

  describe('crops', () => {
    test('all frames of a shot have the greatest height, so that the crop does not move with the jaw', () => {
      const faces = repeat(60, (i) => ({ jaw: 0.1 + 0.1 * Math.sin(i / 2) }));
      const { crops } = highsyncFaces(trackOf(faces));
      for (let frame = 0; frame < 60; frame++) expect(row(crops, frame)).toEqual(row(crops, 0));
    });

    test('have a margin of a tenth of the width on either side, and of the height below', () => {
      const { boxes, crops } = highsyncFaces(trackOf(repeat(20, () => ({}))));
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = row(boxes, 10);
      [x1 - 10, y1, x2 + 10, y1 + 1.1 * (y2 - y1)].forEach((edge, i) =>
        expect(row(crops, 10)[i]).toBeCloseTo(edge, 3),
      );
    });

    test('a face that grows by a factor of more than 1.4 keeps its own height in every frame', () => {
      const sizes = (growth: number) => repeat(100, (i) => ({ stretch: 1 + (growth * i) / 100 }));
      const heights = (growth: number) => {
        const { crops } = highsyncFaces(trackOf(sizes(growth)));
        return [0, 99].map((frame) => (row(crops, frame)[3] ?? 0) - (row(crops, frame)[1] ?? 0));
      };
      const [same = 0, alike = 0] = heights(0.3);
      expect(alike).toBeCloseTo(same, 3);
      const [small = 0, large = 0] = heights(0.6);
      expect(large / small).toBeCloseTo(1.594, 2);
    });

    test('end at the border of the picture', () => {
      const { crops } = highsyncFaces(trackOf(repeat(10, () => ({ x: 20, y: 50, size: 120 }))));
      expect(row(crops, 5).slice(0, 2)).toEqual([0, 0]);
      const corner = highsyncFaces(trackOf(repeat(10, () => ({ x: 630, y: 460, size: 120 }))));
      expect(row(corner.crops, 5).slice(2)).toEqual([640, 480]);
    });

    test('jitter of single frames is smoothed', () => {
      const { crops } = highsyncFaces(trackOf(repeat(60, (i) => ({ x: 300 + 4 * (i % 2) }))));
      const edges = Array.from({ length: 40 }, (_, i) => row(crops, 10 + i)[0] ?? 0);
      expect(Math.max(...edges) - Math.min(...edges)).toBeLessThan(0.5);
    });
  });

  describe('shots', () => {
    const shotsOf = (faces: readonly (Float32Array | null)[], cuts?: number[]): number[] =>
      Array.from(highsyncFaces(trackOf(faces, cuts)).shots);

    test('a frame without a face, a cut and a jump each begin a new one', () => {
      const still = face();
      expect(shotsOf([still, still, null, still, still])).toEqual([0, 0, -1, 1, 1]);
      expect(shotsOf([still, still, still], [0, 2])).toEqual([0, 0, 1]);
      // A measure of 0.2 is 64 pixels to the side in a picture 640 wide, for both edges together.
      expect(shotsOf([still, face({ x: 363 })])).toEqual([0, 0]);
      expect(shotsOf([still, face({ x: 365 })])).toEqual([0, 1]);
    });

    test('each has its own height, and nothing is smoothed across their border', () => {
      const faces = [...repeat(30, () => ({})), ...repeat(30, () => ({ jaw: 0.2, x: 400 }))];
      const { boxes, crops } = highsyncFaces(trackOf(faces));
      expect(row(boxes, 29)[0]).toBeCloseTo(250, 3);
      expect(row(boxes, 30)[0]).toBeCloseTo(350, 3);
      const height = (frame: number) => (row(crops, frame)[3] ?? 0) - (row(crops, frame)[1] ?? 0);
      expect(height(30) - height(29)).toBeCloseTo(22, 2);
    });

    test('a face that has almost left the picture counts as none', () => {
      expect(shotsOf([face({ x: -50 })])).toEqual([-1]);
    });
  });
});

describe('highsync runs', () => {
  const PICTURE = { width: 640, height: 480 };

  /** Ten frames: two shots of four and three frames, a gap of one frame, and a third shot of two. */
  const shots = Int32Array.of(0, 0, 0, 0, 1, 1, 1, -1, 2, 2);

  /** Faces that stand still, except for the x offsets in `moved`. */
  function boxesOf(moved: Readonly<Record<number, number>> = {}): Float32Array {
    return Float32Array.from({ length: 40 }, (_, i) => {
      const x = moved[i >> 2] ?? 0;
      return [100 + x, 100, 200 + x, 240][i % 4] ?? 0;
    });
  }

  const runs = (sources: readonly number[], boxes = boxesOf()): number[][] =>
    highsyncRuns(sources, { shots, boxes }, PICTURE).map(({ start, end }) => [start, end]);

  test('a run ends with the shot and where the face is lost', () => {
    expect(runs([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])).toEqual([
      [0, 4],
      [4, 7],
      [8, 10],
    ]);
  });

  test('a bounce reverses within one run, and a held frame continues it', () => {
    expect(runs([0, 1, 2, 3, 2, 1, 0, 1])).toEqual([[0, 8]]);
    expect(runs([2, 3, 3, 3])).toEqual([[0, 4]]);
  });

  test('a restart continues the run if the face is where it was, and otherwise begins a new one', () => {
    expect(runs([0, 1, 2, 3, 0, 1])).toEqual([[0, 6]]);
    expect(runs([0, 1, 2, 3, 0, 1], boxesOf({ 1: 30, 2: 60, 3: 90 }))).toEqual([
      [0, 4],
      [4, 6],
    ]);
  });

  test('skipped frames are a jump only if the face has moved far meanwhile', () => {
    expect(runs([0, 2, 3], boxesOf({ 2: 60, 3: 60 }))).toEqual([[0, 3]]);
    expect(runs([0, 3], boxesOf({ 3: 70 }))).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  test('a jump is measured across in widths of the picture, and down in its heights', () => {
    const lowered = (by: number) => boxesOf().map((edge, i) => (i >= 12 && i % 2 === 1 ? edge + by : edge));
    expect(runs([0, 3], lowered(47))).toEqual([[0, 2]]);
    expect(runs([0, 3], lowered(49))).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  test('skipping the frames without a face still ends the run', () => {
    expect(runs([5, 6, 8, 9])).toEqual([
      [0, 2],
      [2, 4],
    ]);
  });
});
