import { mouthOpening, mouthOpenings } from '../sync';
import { drawnTrack, upTo } from '../test/clips';
import { paintedLandmarks } from '../test/painted-landmarks';
import { coverOf } from './cover';
import { type FaceTrack } from './face-track';
import { EXEMPLAR_BYTES, EXEMPLARS, mouthLandmarks, NO_MOUTHS } from './mouth-exemplars';
import { chooseMouths, proposeMouths } from './mouth-ladder';

const size = { width: 640, height: 480 };
/** Distance of the painted eyes' centers, pixels. */
const EYES = 86;
const NOSE_TIP = 30;
const RIGHT_CORNER = 54;
const MOUTH_CORNERS = [48, RIGHT_CORNER];

interface Pose {
  /** How far the lips are apart in the middle, in distances of the eyes. */
  readonly opening?: number;
  /** How far the nose is from between the eyes, and from where it is below them, likewise. */
  readonly turn?: number;
  readonly nod?: number;
  /** The mouth's, relative to its usual width. */
  readonly width?: number;
  /** How far its right corner is below the left one, in distances of the eyes. */
  readonly slant?: number;
  readonly x?: number;
}

function face({ opening = 0, turn = 0, nod = 0, width = 1, slant = 0, x = 320 }: Pose): Float32Array {
  const points = paintedLandmarks({ side: 0, x, y: 280, half: 40 }, opening * EYES);
  points[NOSE_TIP * 2] = x + turn * EYES;
  points[NOSE_TIP * 2 + 1] = (points[NOSE_TIP * 2 + 1] ?? 0) + nod * EYES;
  for (const at of MOUTH_CORNERS) points[at * 2] = x + width * ((points[at * 2] ?? 0) - x);
  points[RIGHT_CORNER * 2 + 1] = (points[RIGHT_CORNER * 2 + 1] ?? 0) + slant * EYES;
  return points;
}

const trackOf = (poses: readonly Pose[]): FaceTrack => drawnTrack(poses.map(face), size);

/** Speech that opens the mouth up to 0.35, with all openings between. */
const speaking = (frames: number): Pose[] =>
  upTo(frames).map((frame) => ({ opening: 0.175 * (1 - Math.cos(frame / 9)) }));

/** A picture of one level, with stripes of a contrast. */
const picture = (level: number, contrast: number): Uint8Array =>
  Uint8Array.from({ length: EXEMPLAR_BYTES }, (_, i) => level + (i % 2 === 0 ? contrast : -contrast));

describe('the frames proposed for a ladder', () => {
  test('cover the openings evenly, from the closed mouth to the widest', () => {
    const track = trackOf(speaking(250));
    const openings = mouthOpenings(track);
    const rungs = proposeMouths(track, 0).map((frames) => frames.map((frame) => openings[frame] ?? NaN));
    const step = Math.max(...openings.map(Number)) / (EXEMPLARS - 1);
    expect(rungs).toHaveLength(EXEMPLARS);
    rungs.forEach((rung, i) => {
      expect(rung.length).toBe(3);
      for (const opening of rung) expect(Math.abs(opening / step - i)).toBeLessThan(0.5);
    });
  });

  test.each(['turn', 'nod'] as const)('show the face as it usually is, without a %s of the head', (way) => {
    // Every second second the head is turned, with the same mouths.
    const isTurned = (frame: number): boolean => Math.floor(frame / 25) % 2 === 0;
    const track = trackOf(
      speaking(250).map((pose, frame) => ({ ...pose, [way]: isTurned(frame) ? 0.3 : 0.02 })),
    );
    // The head is turned a little less often than not.
    track.found.fill(0, 0, 10);
    const proposed = proposeMouths(track, 0).flat();
    expect(proposed.filter(isTurned)).toEqual([]);
  });

  test.each([
    ['smiling', { width: 1.3 }],
    ['drawn to one side', { slant: 0.2 }],
  ])('show the mouth as it usually is, not %s', (_, smile) => {
    const smiles = (frame: number): boolean => Math.floor(frame / 25) % 3 === 0;
    const track = trackOf(speaking(250).map((pose, frame) => ({ ...pose, ...(smiles(frame) && smile) })));
    expect(proposeMouths(track, 0).flat().filter(smiles)).toEqual([]);
  });

  test('show a resting head, not one on the move', () => {
    const moves = (frame: number): boolean => frame % 50 < 20;
    let x = 250;
    const track = trackOf(
      speaking(400).map((pose, frame) => ({
        ...pose,
        x: (x += moves(frame) ? (frame % 100 < 50 ? 8 : -8) : 0),
      })),
    );
    const proposed = proposeMouths(track, 0).flat();
    expect(proposed.filter((frame) => moves(frame) || moves(frame + 1))).toEqual([]);
  });

  test('are early ones: what a long video shows once more is not decoded', () => {
    const track = trackOf(speaking(7500));
    expect(Math.max(...proposeMouths(track, 0).flat())).toBeLessThan(250);
  });

  test('are of one shot, the one in which the mouth moves most: another may show somebody else', () => {
    // Three shots: a listener, the speaker, another speaker of whom less is seen.
    const track = trackOf(speaking(400).map((pose, frame) => (frame < 150 ? { opening: 0.02 } : pose)));
    for (const cut of [0, 150, 330]) track.cuts[cut] = 1;
    const proposed = proposeMouths(track, 0).flat();
    expect(proposed.filter((frame) => frame < 150 || frame >= 330)).toEqual([]);
  });

  test('are of all shots where each is too short to show what the mouth does', () => {
    const track = trackOf(speaking(200));
    for (let frame = 0; frame < 200; frame += 20) track.cuts[frame] = 1;
    const shots = proposeMouths(track, 0).map(([frame = NaN]) => Math.floor(frame / 20));
    expect(new Set(shots).size).toBeGreaterThan(1);
  });

  test('are never without a face, and never those whose face was filled in', () => {
    const track = trackOf(speaking(200));
    track.found.fill(0, 0, 80);
    track.seen.fill(0, 120, 160);
    for (const frame of proposeMouths(track, 0).flat())
      expect((frame >= 80 && frame < 120) || frame >= 160).toBe(true);
  });

  describe('with something before the face', () => {
    /** The mouth of this pose has its points about the middle of the grid, at row 43. */
    const chin = coverOf((_, row) => row === 50);
    const forehead = coverOf((_, row) => row < 10);

    test('are never within 0.3 s of a covered mouth', () => {
      const track = trackOf(speaking(250));
      track.shown.fill(0, 30, 60);
      track.shown.fill(0, 100, 120);
      track.found.fill(0, 100, 120);
      for (const frame of proposeMouths(track, 0).flat())
        expect(frame < 22 || (frame > 67 && frame < 92) || frame > 127).toBe(true);
    });

    test('are those with nothing beside the mouth; what is elsewhere does not matter', () => {
      const isBeside = (frame: number): boolean => frame < 80;
      const clear = trackOf(speaking(250));
      const covers = new Map(upTo(250).map((frame) => [frame, isBeside(frame) ? chin : forehead]));
      const proposed = proposeMouths({ ...clear, covers }, 0).flat();
      expect(proposed.filter((frame) => frame < 88)).toEqual([]);
      expect(proposed.length).toBeGreaterThan(EXEMPLARS);
    });

    test('are those of any mouth that is free where something always lies beside it, and none where none is', () => {
      const track = trackOf(speaking(250));
      const covers = new Map(upTo(250).map((frame) => [frame, chin]));
      expect(proposeMouths({ ...track, covers }, 0)).toEqual(proposeMouths(track, 0));
      track.shown.fill(0);
      expect(proposeMouths({ ...track, covers }, 0)).toEqual([]);
    });
  });

  test('are of one look, and none of frames beyond those that may serve', () => {
    const track = trackOf(speaking(200));
    track.looks.fill(1, 0, 60);
    expect(Math.max(...proposeMouths(track, 1).flat())).toBeLessThan(60);
    const early = proposeMouths(track, 0, 120).flat();
    expect([Math.min(...early) >= 60, Math.max(...early) < 120]).toEqual([true, true]);
    expect(proposeMouths(track, 2)).toEqual([]);
  });

  test('repeat where there is little to choose from, and are none where there is nothing', () => {
    const single = trackOf([{ opening: 0.1 }]);
    expect(proposeMouths(single, 0)).toEqual(upTo(EXEMPLARS).map(() => [0]));
    const speck = drawnTrack([paintedLandmarks({ side: 0, x: 20, y: 20, half: 4 }, 0)], size);
    const empty = drawnTrack([null, null], size);
    for (const track of [speck, empty]) expect(proposeMouths(track, 0)).toEqual([]);
  });
});

describe('of the proposed frames', () => {
  test('the sharpest of a rung serves, in the usual light, in order of the openings', () => {
    const track = trackOf(upTo(24).map((frame) => ({ opening: 0.3 - frame / 100 })));
    const proposals = upTo(EXEMPLARS).map((rung) => [3 * rung, 3 * rung + 1, 3 * rung + 2]);
    // The last of each rung is sharper still, but in a flash or in the dark.
    const pictures = new Map(
      upTo(24).map((frame) => {
        const light = frame % 3 === 2 ? (frame % 2 === 0 ? 190 : 50) : 100 + frame / 3;
        return [frame, picture(light, [5, 12, 40][frame % 3] ?? 0)];
      }),
    );
    const mouths = chooseMouths(track, proposals, pictures);
    const served = upTo(EXEMPLARS).map((rung) => 3 * (EXEMPLARS - 1 - rung) + 1);
    served.forEach((frame, rung) => {
      const kept = mouths.pictures.subarray(rung * EXEMPLAR_BYTES, (rung + 1) * EXEMPLAR_BYTES);
      expect(Buffer.compare(kept, pictures.get(frame) ?? kept.subarray(1))).toBe(0);
      const points = mouths.landmarks.subarray(rung * 136, (rung + 1) * 136);
      const own = track.landmarks.slice(frame * 136, (frame + 1) * 136);
      expect(points).toEqual(mouthLandmarks(own));
      expect(mouthOpening(points)).toBeCloseTo(mouthOpening(own), 5);
    });
  });

  test('one that was only seen in other light is replaced by its neighbor, except at the ends', () => {
    const track = trackOf(upTo(EXEMPLARS).map((rung) => ({ opening: rung / 30 })));
    const isDark = (rung: number): boolean => [0, 3, 7].includes(rung);
    const pictures = new Map(
      upTo(EXEMPLARS).map((rung) => [rung, picture((isDark(rung) ? 50 : 120) + rung, 10)]),
    );
    const proposals = upTo(EXEMPLARS).map((rung) => [rung]);
    const { landmarks } = chooseMouths(track, proposals, pictures);
    const openings = mouthOpenings(track);
    [0, 1, 2, 2, 4, 5, 6, 7].forEach((served, rung) => {
      const points = landmarks.subarray(rung * 136, (rung + 1) * 136);
      expect(mouthOpening(points)).toBeCloseTo(openings[served] ?? NaN, 4);
    });
  });

  test('those without a picture are passed over, and without any there are no exemplars', () => {
    const track = trackOf([{ opening: 0.1 }, { opening: 0.2 }]);
    const proposals = upTo(EXEMPLARS).map(() => [0, 1]);
    const only = picture(90, 10);
    const mouths = chooseMouths(track, proposals, new Map([[1, only]]));
    expect(mouths.pictures).toHaveLength(EXEMPLARS * EXEMPLAR_BYTES);
    expect(Buffer.compare(mouths.pictures.subarray(-EXEMPLAR_BYTES), only)).toBe(0);
    expect(chooseMouths(track, proposals, new Map())).toEqual(NO_MOUTHS);
    expect(chooseMouths(track, [], new Map())).toEqual(NO_MOUTHS);
  });
});
