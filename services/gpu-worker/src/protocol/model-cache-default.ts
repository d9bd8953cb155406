/**
 * Default total weights, in bytes, that an inference process keeps loaded: all built-in packs fit, official ones one at
 * a time.
 */
export const MODEL_CACHE_BYTES = 1024 ** 3;
