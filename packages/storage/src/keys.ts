/**
 * Where objects lie. A customer may overwrite `uploads/` while its URL lives; everything else is written once: a
 * worker that lost its lease writes under another fence, so it can never replace what was published.
 */
export const uploadKey = (uploadId: string): string => `uploads/${uploadId}`;

/** `nonce` is new for every attempt to freeze or fetch the asset. */
export const assetKey = (assetId: string, nonce: string): string => `${assetPrefix(assetId)}${nonce}`;
/** What every attempt at the asset begins with. */
export const assetPrefix = (assetId: string): string => `assets/${assetId}/`;

/** By content, of one customer's video: what was derived from it, see the feature cache. */
export const featureKey = (content: { customerId: string; videoSha256: string; sha256: string }): string =>
  `features/${content.customerId}/${content.videoSha256}/${content.sha256}`;

export const outputKey = (engineRunId: string, fence: number): string =>
  `outputs/${engineRunId}/${fence}/video.mp4`;
