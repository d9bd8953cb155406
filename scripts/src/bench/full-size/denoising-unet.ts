import { bankName } from './bank-name';
import { filmOf, picturesOf } from './film';
import { Layers } from './layers';
import { motionModule } from './motion-module';
import { transformer } from './transformer';
import { type ListeningUnetShape } from './unet';
import { pictureNorm, type Place, unetBody, unetEnd, type UnetKind } from './unet-body';
import { type WeightFile } from './weight-file';
import { type HighsyncParams } from '@lipsync/engines';
import { type Graph, GraphBuilder, type Value } from '@lipsync/model-pack';

/** Dimensions of HighSync's denoising network. */
export interface DenoisingShape extends ListeningUnetShape {
  /** Number of frames in a clip, always the same. */
  readonly window: number;
  /** The part of the latent that is generated, borders included. */
  readonly mask: HighsyncParams['mask'];
}

const MOST_FRAMES = 32;
/** Gain on the audio attention, relative to how it was trained. */
const AUDIO_GAIN = 3;

/**
 * A UNet for clips whose transformers also attend to the banks: latent [1, inputs, window, side, side], timestep [1],
 * audio [1, window, steps, width] and, if `banked`, banks. Frames attend to each other inside the mask.
 */
export function denoisingUnet(shape: DenoisingShape, banked: boolean, weights: WeightFile): Graph {
  const g = new GraphBuilder(banked ? 'denoising_unet' : 'denoising_unet_unconditional');
  const layers = new Layers(g, weights);
  const { inputs, outputs, side, heads, heard, window, mask } = shape;
  const film = g.input('latent', 'float32', [1, inputs, window, side, side]);
  const timestep = g.input('timestep', 'int64', [1]);
  const audio = g.input('audio', 'float32', [1, window, heard.steps, heard.width]);
  const listening = { audio: g.op('Squeeze', [audio, g.ints([0])]), width: heard.width, gain: AUDIO_GAIN };
  let count = 0;
  const beside = (places: Value, place: Place): Value => {
    const bank = g.input(bankName(count++), 'float32', [window, place.side ** 2, place.channels]);
    return g.op('Concat', [places, bank], { axis: 1 });
  };
  const move = (x: Value, place: Place): Value => {
    const shown = g.weights([1, 1, place.side, place.side], cells(mask, side / place.side, place.side));
    const kept = g.op('Mul', [x, g.op('Sub', [1, shown])]);
    const moving = { ...place, heads, mostFrames: MOST_FRAMES };
    return layers.add(g.op('Mul', [motionModule(layers, g.op('Mul', [x, shown]), moving), shown]), kept);
  };
  const kind: UnetKind = {
    norm: pictureNorm(layers),
    transform: (x, place) => {
      const seen = banked ? (places: Value) => beside(places, place) : undefined;
      return transformer(layers, x, { ...place, heads }, { heard: listening, ...(seen && { seen }) });
    },
    afterLayer: move,
    inMiddle: move,
  };
  const body = unetBody(layers, picturesOf(layers, film), timestep, shape, kind);
  const predicted = filmOf(layers, unetEnd(layers, body, shape, kind));
  g.output('predicted', predicted, 'float32', [1, outputs, window, side, side]);
  return g.build();
}

/** 1 for the cells of a picture that, at `scale` times their size, lie wholly inside the rectangle. */
function cells(
  { top, bottom, left, right }: HighsyncParams['mask'],
  scale: number,
  side: number,
): Float32Array {
  const inside = (cell: number, from: number, to: number): boolean =>
    cell * scale >= from && (cell + 1) * scale <= to + 1;
  return Float32Array.from({ length: side * side }, (_, i) =>
    inside(Math.floor(i / side), top, bottom) && inside(i % side, left, right) ? 1 : 0,
  );
}
