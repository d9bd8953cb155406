export { type ObjectInfo, type Storage, createStorage } from './storage';
export { assetKey, assetPrefix, featureKey, outputKey, uploadKey } from './keys';
export { openStorage, type StorageEnv, untilLetIn } from './open-storage';
export { type PresignGetOptions, type PresignPutOptions, type SignedGet, type SignedPut } from './presign';
export { type PutOptions, type PutSource } from './transfer';
export { type StorageOptions } from './s3-client';
export {
  isStorageAwayAtFirst,
  isStorageUnavailable,
  StorageError,
  type StorageErrorKind,
} from './storage-error';
