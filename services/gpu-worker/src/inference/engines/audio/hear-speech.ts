import { type WindowEdges } from '@lipsync/lipsync';
import { type AudioParams } from '@lipsync/model-pack';
import { type RunModel } from '../../packs/run-model';
import { type ClipInput } from '../engine';
import { type AudioFeatures, createAudioFeatures } from './audio-features';
import { withSilence } from './with-silence';

/** What an engine hears of a clip's speech, with silence up to the end of the output. */
export async function hearSpeech(
  { audio, sources }: Pick<ClipInput, 'audio' | 'sources'>,
  params: AudioParams,
  edges: WindowEdges,
  run: RunModel,
): Promise<AudioFeatures> {
  const features = createAudioFeatures(withSilence(audio, sources.length), params, edges, run);
  // The first half minute is encoded now, so that a pack that cannot hear fails before any frame is decoded.
  await features.load(0, 0);
  return features;
}
