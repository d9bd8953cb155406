export { type BrowserAccess } from './cors';
export { assetKey, assetPrefix, featureKey, outputKey, uploadKey } from './keys';
export { openStorage, waitForStorageAccess } from './open-storage';
export { createStorage, type Storage } from './storage';
export { type VersionTotals } from './versions';
export { isStorageAwayAtFirst, isStorageUnavailable, StorageError } from './storage-error';
