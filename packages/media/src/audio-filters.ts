/**
 * Time zero is the first sample, and holes in the timestamps become silence: what the analysis hears and what the
 * output plays stay aligned.
 */
export const AUDIO_CLOCK = 'asetpts=PTS-STARTPTS';
export const FILL_HOLES = 'async=1';
