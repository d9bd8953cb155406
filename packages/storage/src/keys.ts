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
  `features/${content.customerId}/${content.videoSha256}/${content.sha256}`;

export const outputKey = (engineRunId: string, fence: number): string =>
  `outputs/${engineRunId}/${fence}/video.mp4`;
