import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HAND_PATCH_SIDE, PALM_PICTURE_SIDE } from '@lipsync/engines';
import { type Graph, GraphBuilder, PackError, type Value } from '@lipsync/model-pack';
import { z } from 'zod';
import { addTflite } from './tflite-graph';

/** What the script that loads the package's assets says of where each of them lies in their common file. */
const assetsSchema = z.array(
  z.object({ filename: z.string(), start: z.int().nonnegative(), end: z.int().nonnegative() }),
);

/**
 * The published networks of MediaPipe's hands, the lighter of each two, as TensorFlow Lite files. Rejects with PackError
 * if they cannot be read.
 */
export async function publishedHands(): Promise<{ palms: Uint8Array; landmarks: Uint8Array }> {
  const folder = dirname(require.resolve('@mediapipe/hands/package.json'));
  try {
    const loader = await readFile(join(folder, 'hands_solution_packed_assets_loader.js'), 'utf8');
    const listed = /"files": (\[[^\]]*\])/.exec(loader)?.[1] ?? '';
    const asset = assetsSchema.parse(JSON.parse(listed)).find(({ filename }) => filename.endsWith(PALM_FILE));
    const assets = await readFile(join(folder, 'hands_solution_packed_assets.data'));
    const landmarks = await readFile(join(folder, 'hand_landmark_lite.tflite'));
    return { palms: assets.subarray(asset?.start, asset?.end), landmarks };
  } catch (cause) {
    throw new PackError('file_missing', `the hand networks in ${folder} cannot be read`, { cause });
  }
}

const PALM_FILE = '/palm_detection_lite.tflite';

/** Columns and rows of the detector's grids, and how many palms each cell may show. */
const GRIDS = [
  { side: 24, palms: 2 },
  { side: 12, palms: 6 },
] as const;

/** Where a palm's numbers are told from: its center and joints from the center of its cell, its size from nothing. */
const CENTERS = GRIDS.flatMap(({ side, palms }) =>
  Array.from({ length: side ** 2 * palms }, (_, i) => {
    const cell = Math.floor(i / palms);
    return [((cell % side) + 0.5) / side, (Math.floor(cell / side) + 0.5) / side] as const;
  }),
);
/** How many places the detector judges. */
export const PALMS = CENTERS.length;
/** Center, size, and seven joints, x and y each. */
const PAIRS = 9;

/**
 * MediaPipe's palm detector. image [1, 192, 192, 3] (8-bit RGB) → palms [2016, 9, 2]: center, size and seven joints, the
 * wrist first and the root of the middle finger third, as fractions of the image; scores [2016] (0..1). The caller
 * removes overlapping palms. Throws PackError if the file is another network.
 */
export function palmDetector(file: Uint8Array): Graph {
  const g = new GraphBuilder('palm_detector');
  const [numbers, scores] = addTflite(g, file, pixels(g, PALM_PICTURE_SIDE));
  const offsets = CENTERS.flatMap(([x, y]) =>
    Array.from({ length: PAIRS }, (_, pair) => (pair === 1 ? [0, 0] : [x, y])).flat(),
  );
  const pairs = g.op('Reshape', [numbers ?? null, g.ints([-1, PAIRS, 2])]);
  const palms = g.op('Add', [
    g.op('Mul', [pairs, 1 / PALM_PICTURE_SIDE]),
    g.weights([PALMS, PAIRS, 2], offsets),
  ]);
  g.output('palms', palms, 'float32', [PALMS, PAIRS, 2]);
  const scored = g.op('Sigmoid', [g.op('Reshape', [scores ?? null, g.ints([-1])])]);
  g.output('scores', scored, 'float32', [PALMS]);
  return g.build();
}

/**
 * MediaPipe's hand landmarks. image [1, 224, 224, 3] (8-bit RGB), an upright hand → points [21, 2] as fractions of the
 * image, and presence [1], the probability that it shows a hand. Throws PackError if the file is another network.
 */
export function handLandmarks(file: Uint8Array): Graph {
  const g = new GraphBuilder('hand_landmarks');
  const [numbers, presence] = addTflite(g, file, pixels(g, HAND_PATCH_SIDE));
  const [flat] = g.split(g.op('Reshape', [numbers ?? null, g.ints([21, 3])]), [2, 1], 1);
  g.output('points', g.op('Mul', [flat ?? null, 1 / HAND_PATCH_SIDE]), 'float32', [21, 2]);
  g.output('presence', g.op('Reshape', [presence ?? null, g.ints([1])]), 'float32', [1]);
  return g.build();
}

/** The input image with values from 0 to 1 and channels second. */
function pixels(g: GraphBuilder, side: number): Value {
  const image = g.input('image', 'uint8', [1, side, side, 3]);
  const values = g.op('Mul', [g.op('Cast', [image], { to: 1 }), 1 / 255]);
  return g.op('Transpose', [values], { perm: [0, 3, 1, 2] });
}
