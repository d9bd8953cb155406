import { type Graph, GraphBuilder, type Value } from '@lipsync/model-pack';
import { filmOf, picturesOf } from './film';
import { Layers } from './layers';
import { motionModule } from './motion-module';
import { transformer } from './transformer';
import { filmNorm, pictureNorm, unetBody, unetEnd, type UnetKind, type UnetShape } from './unet-body';
import { type WeightFile } from './weight-file';

export interface ListeningUnetShape extends UnetShape {
  /** The audio of one picture. */
  readonly heard: { readonly steps: number; readonly width: number };
}

/** LatentSync's largest number of frames. */
const MOST_FRAMES = 24;

/**
 * Stable Diffusion 1.5's UNet conditioned on audio instead of text, as in MuseTalk: latent [b, inputs, side, side],
 * timestep [1], audio [b, steps, width].
 */
export function unet(shape: ListeningUnetShape, weights: WeightFile): Graph {
  const g = new GraphBuilder('unet');
  const layers = new Layers(g, weights);
  const { inputs, outputs, side } = shape;
  const latent = g.input('latent', 'float32', ['batch', inputs, side, side]);
  const predicted = listeningUnet(layers, latent, 'batch', shape, {
    norm: pictureNorm(layers),
    afterLayer: (x) => x,
  });
  g.output('predicted', predicted, 'float32', ['batch', outputs, side, side]);
  return g.build();
}

/**
 * The same for clips, as in LatentSync: latent [1, inputs, frames, side, side], timestep [1], audio [frames, steps,
 * width]. Group norms take their statistics over all frames, and between the layers frames attend to each other.
 */
export function unet3d(shape: ListeningUnetShape, weights: WeightFile): Graph {
  const g = new GraphBuilder('unet3d');
  const layers = new Layers(g, weights);
  const { inputs, outputs, side, heads } = shape;
  const film = g.input('latent', 'float32', [1, inputs, 'frames', side, side]);
  const predicted = listeningUnet(layers, picturesOf(layers, film), 'frames', shape, {
    norm: filmNorm(layers),
    afterLayer: (x, place) => motionModule(layers, x, { ...place, heads, mostFrames: MOST_FRAMES }),
  });
  g.output('predicted', filmOf(layers, predicted), 'float32', [1, outputs, 'frames', side, side]);
  return g.build();
}

/** Maps [pictures, inputs, side, side] to [pictures, outputs, side, side]. */
function listeningUnet(
  layers: Layers,
  latent: Value,
  pictures: string,
  shape: ListeningUnetShape,
  differing: Pick<UnetKind, 'norm' | 'afterLayer'>,
): Value {
  const { g } = layers;
  const { heads, heard } = shape;
  const timestep = g.input('timestep', 'int64', [1]);
  const audio = g.input('audio', 'float32', [pictures, heard.steps, heard.width]);
  const listening = { heard: { audio, width: heard.width } };
  const kind: UnetKind = {
    ...differing,
    transform: (x, place) => transformer(layers, x, { ...place, heads }, listening),
    inMiddle: (x) => x,
  };
  return unetEnd(layers, unetBody(layers, latent, timestep, shape, kind), shape, kind);
}
