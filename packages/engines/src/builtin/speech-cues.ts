/**
 * Where the built-in audio encoder puts what the built-in generator reads. The other channels of the hidden states hold
 * the spectrogram itself (state 0) and zeros.
 */
export const STATES = 5;
export const WIDTH = 384;
export const STEPS = 1500;
/** The hidden state (of 5 per step) whose first channels are the cues below. */
export const CUE_STATE = 1;
/** opening: how far the jaw is down; rounding: lips drawn together (o, u); spreading: corners apart (i, e). */
export const CUES = ['opening', 'rounding', 'spreading'] as const;
