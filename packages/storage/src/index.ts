export {
  assetKey,
  assetPrefix,
  ERASED_PREFIX,
  erasedKey,
  featureKey,
  featurePrefix,
  outputKey,
  outputPrefix,
  uploadKey,
} from './keys';
export { openStorage, waitForStorageAccess } from './open-storage';
export { createStorage, type Storage } from './storage';
export { isStorageAwayAtFirst, isStorageUnavailable, StorageError } from './storage-error';
