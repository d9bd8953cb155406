import { type AudioParams } from '../audio-params';
import { type ClipInput } from '../engine';
import { type RunModel } from '../run-model';
import { type AudioFeatures, createAudioFeatures } from './audio-features';
import { type WindowEdges } from './whisper-window';
import { withSilence } from './with-silence';

/** The audio features of a clip's speech, with silence up to the end of the output. */
export async function hearSpeech(
  { audio, sources }: Pick<ClipInput, 'audio' | 'sources'>,
  params: AudioParams,
  edges: WindowEdges,
  run: RunModel,
): Promise<AudioFeatures> {
  const features = createAudioFeatures(withSilence(audio, sources.length), params, edges, run);
  // Encode the first half minute now, so that a pack whose audio encoder fails does so before any frame is decoded.
  await features.load(0, 0);
  return features;
}
