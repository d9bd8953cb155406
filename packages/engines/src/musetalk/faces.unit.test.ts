import { type FaceTrack, TRACK_REACH } from '../face/face-track';
import { drawnTrack, upTo } from '../test/clips';
import { schematicFace } from '../test/painted-landmarks';
import { faceBox, musetalkBoxes } from './faces';

describe('musetalk boxes', () => {
  const placement = { shift: 0, margin: 10 };
  const FRAMES = 80;

  /** A track of `face(frame)`; frames without one show no face. */
  const track = (
    face: (frame: number) => Float32Array | null,
    size = { width: 1000, height: 1000 },
  ): FaceTrack => drawnTrack(upTo(FRAMES).map(face), size);

  /** 136 wide and 134 high, its left edge at `x`. */
  const face = (x: number): Float32Array =>
    Float32Array.from({ length: 136 }, (_, i) => (i % 2 === 0 ? x + i : 100 + i));
  const jittering = (frame: number): Float32Array => face(300 + (frame % 2 === 0 ? 3 : -3));
  const rowsOf = (boxes: Float32Array): number[][] =>
    Array.from({ length: boxes.length / 4 }, (_, i) => [...boxes.subarray(i * 4, i * 4 + 4)]);

  describe('musetalkBoxes', () => {
    test('the box is smoothed', () => {
      const rows = rowsOf(musetalkBoxes(track(jittering), placement));
      const steps = rows.slice(1).map(([x1 = 0], i) => Math.abs(x1 - (rows[i]?.[0] ?? 0)));
      expect(Math.max(...steps)).toBeLessThan(1.5);
    });

    test('the size of the box does not change with a jaw that opens twice a second', () => {
      const talking = (frame: number): Float32Array => {
        const points = face(300);
        const chin = points.length - 1;
        points[chin] = (points[chin] ?? 0) + 20 * Math.sin((2 * Math.PI * 2 * frame) / 25);
        return points;
      };
      const heights = rowsOf(musetalkBoxes(track(talking), placement)).map(([, y1 = 0, , y2 = 0]) => y2 - y1);
      // The ends have frames on one side only.
      const inner = heights.slice(18, -18);
      expect(Math.max(...inner) - Math.min(...inner)).toBeLessThan(2);
    });

    test('the box stays inside the picture', () => {
      const boxes = musetalkBoxes(track(jittering, { width: 360, height: 230 }), placement);
      expect(Math.max(...boxes)).toBe(360);
      expect(boxes[3]).toBe(230);
    });

    test('frames without a face, and those whose face has left the picture, have no box and affect no other', () => {
      const still = rowsOf(
        musetalkBoxes(
          track(() => face(300)),
          placement,
        ),
      );
      const broken = track((frame) => (frame === 20 ? null : frame === 30 ? face(5000) : face(300)));
      const rows = rowsOf(musetalkBoxes(broken, placement));
      expect([rows[20], rows[30]]).toEqual([
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ]);
      for (const frame of [19, 21, 29, 31]) {
        rows[frame]?.forEach((value, i) => expect(value).toBeCloseTo(still[frame]?.[i] ?? NaN, 2));
      }
    });

    test('a row depends on no frame beyond the look-ahead of every analysis', () => {
      const calm = rowsOf(musetalkBoxes(track(jittering), placement));
      const changed = track((frame) => (frame === 40 ? face(500) : jittering(frame)));
      const differing = rowsOf(musetalkBoxes(changed, placement)).flatMap((row, frame) =>
        row.every((value, i) => value === calm[frame]?.[i]) ? [] : [frame],
      );
      expect(differing).toContain(35);
      expect(differing).toContain(45);
      expect(Math.max(...differing.map((frame) => Math.abs(frame - 40)))).toBeLessThanOrEqual(
        25 * TRACK_REACH,
      );
    });
  });
});

describe('face box', () => {
  /** MuseTalk 1.5. */
  const placement = { shift: 0, margin: 10 };

  describe('faceBox', () => {
    test('spans the landmarks, with the nose bridge in the middle and 10 px under the chin', () => {
      expect(faceBox(schematicFace(10), { width: 640, height: 480 }, placement)).toEqual({
        x1: 220,
        y1: 140,
        x2: 380,
        y2: 350,
      });
    });

    test('a shift moves the middle down and leaves the chin where it is; without a margin the box ends there', () => {
      expect(faceBox(schematicFace(10), { width: 640, height: 480 }, { shift: 7, margin: 0 })).toEqual({
        x1: 220,
        y1: 154,
        x2: 380,
        y2: 340,
      });
    });

    test('is clipped to the picture', () => {
      const low = schematicFace(0).map((value, i) => (i % 2 === 0 ? value - 250 : value - 200));
      expect(faceBox(low, { width: 100, height: 145 }, placement)).toEqual({
        x1: 0,
        y1: 0,
        x2: 100,
        y2: 145,
      });
    });

    test('a face entirely outside the picture has no box', () => {
      expect(
        faceBox(
          schematicFace(0).map((value) => value + 1000),
          { width: 640, height: 480 },
          placement,
        ),
      ).toBeNull();
    });
  });
});
