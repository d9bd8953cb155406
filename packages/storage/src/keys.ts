/**
 * Keys of objects. A customer may overwrite `uploads/` while its URL is valid. Everything else is written once: a
 * worker that lost its lease wrote under an older fence, so it can never replace what was published.
 */
export const uploadKey = (uploadId: string): string => `uploads/${uploadId}`;

/** `nonce` is new for every attempt to freeze or fetch the asset. */
export const assetKey = (assetId: string, nonce: string): string => `${assetPrefix(assetId)}${nonce}`;
/** The common prefix of all attempts at the asset. */
export const assetPrefix = (assetId: string): string => `assets/${assetId}/`;

/** Addressed by content, within one video of one customer: data derived from the video (see the feature cache). */
export const featureKey = (content: { customerId: string; videoSha256: string; sha256: string }): string =>
  `${featurePrefix(content.customerId, content.videoSha256)}${content.sha256}`;
/** The common prefix of what is kept of a customer's video; without a digest, of all its videos. */
export const featurePrefix = (customerId: string, videoSha256?: string): string =>
  videoSha256 === undefined ? `features/${customerId}/` : `features/${customerId}/${videoSha256}/`;
export const outputKey = (engineRunId: string, fence: number): string =>
  `${outputPrefix(engineRunId)}${fence}/video.mp4`;
/** The common prefix of all claims of an engine run. */
export const outputPrefix = (engineRunId: string): string => `outputs/${engineRunId}/`;
/**
 * The list of what was erased, one object for each. It is in the bucket because a restore of the database to a time before
 * an erasure must not lose it.
 */
export const erasedKey = (kind: 'customer' | 'render' | 'asset', id: string): string =>
  `${ERASED_PREFIX}${kind}s/${id}.json`;
export const ERASED_PREFIX = 'erased/';
