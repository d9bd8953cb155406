import { encodeModel, floatTensor, GraphBuilder, modelFile, type Value } from '@lipsync/model-pack';

const [RED, GREEN, BLUE] = [0.299, 0.587, 0.114];
/** The differences of blue and red from the brightness, divided by these, are in [-1, 1]. */
const BLUE_RANGE = 2 * (1 - BLUE);
const RED_RANGE = 2 * (1 - RED);

/** Brightness, difference towards blue, difference towards red (ITU-R BT.601): rows of weights of red, green, blue. */
export const FROM_RGB = [
  [RED, GREEN, BLUE],
  [-RED / BLUE_RANGE, -GREEN / BLUE_RANGE, (1 - BLUE) / BLUE_RANGE],
  [(1 - RED) / RED_RANGE, -GREEN / RED_RANGE, -BLUE / RED_RANGE],
] as const;

/** Red, green, blue: rows of weights of brightness and the two differences. */
export const TO_RGB = [
  [1, 0, RED_RANGE],
  [1, (-BLUE * BLUE_RANGE) / GREEN, (-RED * RED_RANGE) / GREEN],
  [1, BLUE_RANGE, 0],
] as const;

/** Side of the pixel blocks that become one cell of the latent. */
export const BLOCK = 8;
/** Color is kept for every 2×2 pixels, because the videos that crops come from, and go back to, hold no more. */
const CHROMA_BLOCK = BLOCK / 2;
const LUMA_CHANNELS = BLOCK * BLOCK;
const CHROMA_CHANNELS = 2 * CHROMA_BLOCK * CHROMA_BLOCK;
/** The latent of one 8×8 block: 64 brightnesses and 16 pairs of color differences. */
export const LATENT_CHANNELS = LUMA_CHANNELS + CHROMA_CHANNELS;
/** The scale of the autoencoder that the official weights use, so that the caller's scaling is exercised. */
export const LATENT_SCALE = 0.18215;

/** A picture as brightness [n, 1, height, width] and color differences [n, 2, height/2, width/2]. */
export interface Planes {
  readonly luma: Value;
  readonly chroma: Value;
}

/** [n, 96, rows, columns] of cells → planes. */
export function planesOf(g: GraphBuilder, cells: Value): Planes {
  const [luma, chroma] = g.split(cells, [LUMA_CHANNELS, CHROMA_CHANNELS], 1);
  return {
    luma: g.op('DepthToSpace', [luma], { blocksize: BLOCK }),
    chroma: g.op('DepthToSpace', [chroma], { blocksize: CHROMA_BLOCK }),
  };
}

/** The inverse of planesOf. */
export function cellsOf(g: GraphBuilder, { luma, chroma }: Planes): Value {
  const cells = [
    g.op('SpaceToDepth', [luma], { blocksize: BLOCK }),
    g.op('SpaceToDepth', [chroma], { blocksize: CHROMA_BLOCK }),
  ];
  return g.op('Concat', cells, { axis: 1 });
}

const image = (side: number) => ['batch', 3, side, side];
const latent = (side: number) => ['batch', LATENT_CHANNELS, side / BLOCK, side / BLOCK];
const BLOCKWISE = { kernel_shape: [BLOCK, BLOCK], strides: [BLOCK, BLOCK] };
const WEIGHTS = [LATENT_CHANNELS, 3, BLOCK, BLOCK];

/** RGB image of `side` pixels → latent: the brightness of every pixel, and the mean color of every 2×2 pixels. */
export function encoderModel(side: number): Uint8Array {
  const g = new GraphBuilder('blocks_to_cells');
  // Term 0 of the color matrix is the brightness; 1 and 2 are the differences, which four pixels share.
  const kernel = blockWeights((term, color) => (FROM_RGB[term]?.[color] ?? 0) / (term === 0 ? 1 : 4));
  const encoded = g.op(
    'Conv',
    [g.input('image', 'float32', image(side)), g.weights(WEIGHTS, kernel)],
    BLOCKWISE,
  );
  g.output('latent', encoded, 'float32', latent(side));
  return encodeModel(g.build());
}

/**
 * latent → RGB image, clamped to the range of images, as users of a learned decoder do. Inverts what the encoder keeps.
 */
export function decoderModel(side: number): Uint8Array {
  const g = new GraphBuilder('cells_to_blocks');
  const { luma, chroma } = planesOf(g, g.input('latent', 'float32', latent(side)));
  const share = TO_RGB.map(([, blue, red]) => [blue, red]);
  const kernel = [0, 1].flatMap((term) => share.flatMap((color) => Array<number>(4).fill(color[term] ?? 0)));
  const tint = g.op('ConvTranspose', [chroma, g.weights([2, 3, 2, 2], kernel)], {
    kernel_shape: [2, 2],
    strides: [2, 2],
  });
  g.output('image', g.op('Clip', [g.op('Add', [luma, tint]), -1, 1]), 'float32', image(side));
  return encodeModel(g.build());
}

/** Weights [96, 3, 8, 8] between the channels of a cell, in the order of DepthToSpace, and the pixels of its block. */
function blockWeights(weight: (term: number, color: number) => number): Float32Array {
  const pixels = BLOCK * BLOCK;
  const values = new Float32Array(LATENT_CHANNELS * 3 * pixels);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const [row, column] = [Math.floor(pixel / BLOCK) >> 1, (pixel % BLOCK) >> 1];
    const pair = pixels + 2 * (row * CHROMA_BLOCK + column);
    [pixel, pair, pair + 1].forEach((channel, term) => {
      for (let color = 0; color < 3; color++)
        values[(channel * 3 + color) * pixels + pixel] = weight(term, color);
    });
  }
  return values;
}

const ENCODER = 'vae-encoder.onnx';
const DECODER = 'vae-decoder.onnx';
/** A gray picture, in whose latent only the brightness is not 0. */
const GRAY = 0.5;
const MEAN_OF_GRAY = (GRAY * BLOCK * BLOCK) / LATENT_CHANNELS;
/** A latent of one value, which decodes to a uniform color. Its mean is that over red, green and blue. */
const LEVEL = 0.2;
const MEAN_OF_LEVEL = (LEVEL * TO_RGB.flat().reduce((sum, weight) => sum + weight, 0)) / TO_RGB.length;

/** Both halves of the built-in autoencoder for crops of `side` pixels: files, roles of a manifest, and parameters. */
export function autoencoder(side: number) {
  const [encoder, decoder] = [encoderModel(side), decoderModel(side)];
  const cells = side / BLOCK;
  const image = floatTensor('image', ['batch', 3, side, side], [-1, 1]);
  const latent = floatTensor('latent', ['batch', LATENT_CHANNELS, cells, cells]);
  return {
    models: { [ENCODER]: encoder, [DECODER]: decoder },
    roles: {
      vae_encoder: {
        ...modelFile(ENCODER, encoder),
        inputs: { image },
        outputs: { latent },
        probe: {
          dims: { batch: 1 },
          fill: { image: GRAY },
          means: { latent: MEAN_OF_GRAY },
          tolerance: 1e-5,
        },
      },
      vae_decoder: {
        ...modelFile(DECODER, decoder),
        inputs: { latent },
        outputs: { image },
        probe: {
          dims: { batch: 1 },
          fill: { latent: LEVEL },
          means: { image: MEAN_OF_LEVEL },
          tolerance: 1e-5,
        },
      },
    },
    latent: { channels: LATENT_CHANNELS, height: cells, width: cells, scale: LATENT_SCALE },
  };
}
