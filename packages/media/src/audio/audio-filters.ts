/** Holes in the timestamps become silence: what the analysis hears and what the output plays stay aligned. */
export const FILL_HOLES = 'async=1';
