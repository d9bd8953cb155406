/** Weights of engines that an inference process keeps loaded unless told: built-in packs all fit, official ones one at a time. */
export const MODEL_CACHE_BYTES = 1024 ** 3;
