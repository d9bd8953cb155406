import {
  alignedFaces,
  type FaceTrack,
  highsyncFaces,
  landmarkCenter,
  landmarksAt,
  LEFT_EYE,
  musetalkBoxes,
  RIGHT_EYE,
} from '@lipsync/engines';

/** The parts of a face by which engines crop, as [first, last + 1]. */
const PARTS = { lm29: [29, 30], chin: [8, 9], brows: [17, 27], nose: [27, 36] } as const;
const BROWS = PARTS.brows;

/** How far something is off, over frames: mean, deviation from it (root mean square), and what 5 % exceed. */
interface Figures {
  readonly mean: number;
  readonly spread: number;
  readonly worst: number;
}

interface TrackComparison {
  readonly frames: number;
  /** Along the eyes and across them, in percent of the face from the brows to the chin. */
  readonly points: Readonly<Record<string, Readonly<Record<'right' | 'down', Figures>>>>;
  /** In pixels of a crop of 256, scale in percent, angles in degrees. */
  readonly crops: Readonly<Record<string, Readonly<Record<string, Figures>>>>;
}

/** Compares where a track has its face with a reference, and what engines would cut out by each. */
export function compareTracks(track: FaceTrack, reference: FaceTrack): TrackComparison {
  // Smoothing reaches from frame to frame: both must have the same ones.
  const found = track.found.map((value, frame) => value & (reference.found[frame] ?? 0));
  const [ours, theirs] = [
    { ...track, found },
    { ...reference, found },
  ];
  const frames = Array.from(found.keys()).filter((frame) => found[frame] === 1);
  const points = Object.entries(PARTS).map(([name, part]) => {
    const off = frames.map((frame) => {
      const { height, cos, sin } = axesOf(landmarksAt(theirs, frame));
      const [a, b] = [
        landmarkCenter(landmarksAt(ours, frame), part),
        landmarkCenter(landmarksAt(theirs, frame), part),
      ];
      const [x, y] = [((a.x - b.x) / height) * 100, ((a.y - b.y) / height) * 100];
      return { right: cos * x + sin * y, down: cos * y - sin * x };
    });
    return [name, columns(off)];
  });
  const crops = Object.entries({ musetalk: musetalkOff, latentsync: latentsyncOff, highsync: highsyncOff });
  return {
    frames: frames.length,
    points: Object.fromEntries(points) as TrackComparison['points'],
    crops: Object.fromEntries(crops.map(([name, off]) => [name, columns(off(ours, theirs, frames))])),
  };
}

/** Percent of the face by which parts of it leave the straight line between the frames before and after. */
export function jitterOf(track: FaceTrack): Record<string, number> {
  const inner = Array.from(track.found.keys()).filter((frame) =>
    [frame - 1, frame, frame + 1].every(
      (each) => track.found[each] === 1 && (each < frame || track.cuts[each] !== 1),
    ),
  );
  const jitter = Object.entries(PARTS).map(([name, part]) => {
    const squares = inner.map((frame) => {
      const { height } = axesOf(landmarksAt(track, frame));
      const [a, b, c] = [-1, 0, 1].map((step) => landmarkCenter(landmarksAt(track, frame + step), part));
      if (!a || !b || !c) throw new RangeError('three frames are needed');
      return ((b.x - (a.x + c.x) / 2) ** 2 + (b.y - (a.y + c.y) / 2) ** 2) / height ** 2;
    });
    return [name, 100 * Math.sqrt(squares.reduce((sum, each) => sum + each, 0) / inner.length)];
  });
  return Object.fromEntries(jitter) as Record<string, number>;
}

/** The height of a face from its brows to its chin, and the direction of its eyes. */
function axesOf(points: Float32Array): { height: number; cos: number; sin: number } {
  const [brows, chin] = [landmarkCenter(points, BROWS), landmarkCenter(points, PARTS.chin)];
  const [left, right] = [landmarkCenter(points, LEFT_EYE), landmarkCenter(points, RIGHT_EYE)];
  const angle = Math.atan2(right.y - left.y, right.x - left.x);
  return {
    height: Math.hypot(chin.x - brows.x, chin.y - brows.y),
    cos: Math.cos(angle),
    sin: Math.sin(angle),
  };
}

type Row = Readonly<Record<string, number>>;
type Off = (ours: FaceTrack, theirs: FaceTrack, frames: readonly number[]) => Row[];

const SIDE = 256;
/** Below the chin, pixels of the picture. */
const MARGIN = 10;

const musetalkOff: Off = (ours, theirs, frames) => {
  const [a, b] = [ours, theirs].map((track) => musetalkBoxes(track, { shift: 0, margin: MARGIN }));
  return boxesOff(a, b, frames).map((off) => {
    // Where the generated half begins.
    return { ...off, middle: ((off['top'] ?? NaN) + (off['bottom'] ?? NaN)) / 2 };
  });
};

const highsyncOff: Off = (ours, theirs, frames) => {
  const [a, b] = [ours, theirs].map((track) => highsyncFaces(track).crops);
  return boxesOff(a, b, frames);
};

function boxesOff(
  a: Float32Array | undefined,
  b: Float32Array | undefined,
  frames: readonly number[],
): Row[] {
  return frames.map((frame) => {
    const off = (edge: number, from: number, to: number): number => {
      const at = (boxes: Float32Array | undefined, i: number): number => boxes?.[frame * 4 + i] ?? NaN;
      return ((at(a, edge) - at(b, edge)) / (at(b, to) - at(b, from))) * SIDE;
    };
    return { left: off(0, 0, 2), top: off(1, 1, 3), right: off(2, 0, 2), bottom: off(3, 1, 3) };
  });
}

const latentsyncOff: Off = (ours, theirs, frames) => {
  const [mine = new Float32Array(), wanted = new Float32Array()] = [ours, theirs].map((track) =>
    alignedFaces(track, SIDE),
  );
  return frames.map((frame) => {
    const [a = NaN, b = NaN, c = NaN, d = NaN, e = NaN, f = NaN] = wanted.subarray(frame * 6, frame * 6 + 6);
    const [a2 = NaN, b2 = NaN, c2 = NaN, d2 = NaN, e2 = NaN, f2 = NaN] = mine.subarray(
      frame * 6,
      frame * 6 + 6,
    );
    const area = a * e - b * d;
    // The pixel of the frame that is in the middle of the reference's crop.
    const [u, v] = [SIDE / 2 - c, SIDE / 2 - f];
    const [x, y] = [(e * u - b * v) / area, (a * v - d * u) / area];
    return {
      right: SIDE / 2 - (a2 * x + b2 * y + c2),
      down: SIDE / 2 - (d2 * x + e2 * y + f2),
      larger: 100 * (Math.sqrt(area / (a2 * e2 - b2 * d2)) - 1),
      turned: ((Math.atan2(d, e) - Math.atan2(d2, e2)) * 180) / Math.PI,
    };
  });
};

/** Figures of every column. */
function columns(rows: readonly Row[]): Record<string, Figures> {
  const names = Object.keys(rows[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, figures(rows.map((row) => row[name] ?? NaN))]));
}

function figures(values: readonly number[]): Figures {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const sizes = values.map(Math.abs).sort((a, b) => a - b);
  return {
    mean,
    spread: Math.sqrt(squares / values.length),
    worst: sizes[Math.floor(0.95 * (sizes.length - 1))] ?? NaN,
  };
}
