import { encodeModel, GraphBuilder } from '@lipsync/model-pack';
import { FROM_RGB, TO_RGB } from './colours';
import { BLOCK, CHROMA_BLOCK, LATENT_CHANNELS, planesOf } from './latent-planes';

const image = (side: number) => ['batch', 3, side, side];
const latent = (side: number) => ['batch', LATENT_CHANNELS, side / BLOCK, side / BLOCK];
const BLOCKWISE = { kernel_shape: [BLOCK, BLOCK], strides: [BLOCK, BLOCK] };
const WEIGHTS = [LATENT_CHANNELS, 3, BLOCK, BLOCK];

/** RGB image of `side` pixels → latent: the brightness of every pixel, and the mean colour of every 2×2 pixels. */
export function encoderModel(side: number): Uint8Array {
  const g = new GraphBuilder('blocks_to_cells');
  // Term 0 of the colour matrix is the brightness; 1 and 2 are the differences, which four pixels share.
  const kernel = blockWeights((term, colour) => (FROM_RGB[term]?.[colour] ?? 0) / (term === 0 ? 1 : 4));
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
  const kernel = [0, 1].flatMap((term) =>
    share.flatMap((colour) => Array<number>(4).fill(colour[term] ?? 0)),
  );
  const tint = g.op('ConvTranspose', [chroma, g.weights([2, 3, 2, 2], kernel)], {
    kernel_shape: [2, 2],
    strides: [2, 2],
  });
  g.output('image', g.op('Clip', [g.op('Add', [luma, tint]), -1, 1]), 'float32', image(side));
  return encodeModel(g.build());
}

/** Weights [96, 3, 8, 8] between the channels of a cell, in the order of DepthToSpace, and the pixels of its block. */
function blockWeights(weight: (term: number, colour: number) => number): Float32Array {
  const pixels = BLOCK * BLOCK;
  const values = new Float32Array(LATENT_CHANNELS * 3 * pixels);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const [row, column] = [Math.floor(pixel / BLOCK) >> 1, (pixel % BLOCK) >> 1];
    const pair = pixels + 2 * (row * CHROMA_BLOCK + column);
    [pixel, pair, pair + 1].forEach((channel, term) => {
      for (let colour = 0; colour < 3; colour++)
        values[(channel * 3 + colour) * pixels + pixel] = weight(term, colour);
    });
  }
  return values;
}
