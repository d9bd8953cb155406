/**
 * Fills holes in the timestamps with silence, so that what the analysis hears and what the output plays stay aligned.
 */
export const FILL_HOLES = 'async=1';
