import { modelFile } from '@lipsync/model-pack';
import { SEGMENT_FRAMES } from '../speech/log-mel';
import { MEL_BANDS } from '../speech/mel-filters';
import { floatTensor } from './float-tensor';
import { STATES, STEPS, WIDTH } from './speech-cues';

/** The `whisper_encoder` of a manifest for a pack that stores the built-in audio encoder as `file`. */
export function audioRole(file: string, model: Uint8Array) {
  return {
    ...modelFile(file, model),
    inputs: { mel: floatTensor('mel', [1, MEL_BANDS, SEGMENT_FRAMES], [-1.5, 1.5]) },
    outputs: { states: floatTensor('states', [1, STEPS, STATES, WIDTH]) },
    probe: { dims: {}, fill: { mel: 0.5 }, means: { states: 0.0427 }, tolerance: 1e-3 },
  };
}
