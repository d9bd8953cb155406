export { type ObjectInfo } from './head';
export { assetKey, assetPrefix, featureKey, outputKey, uploadKey } from './keys';
export { openStorage, type StorageEnv } from './open-storage';
export { type PresignGetOptions, type PresignPutOptions, type SignedGet, type SignedPut } from './presign';
export { type PutOptions, type PutSource } from './put';
export { type StorageOptions } from './s3-client';
export { type Storage, createStorage } from './storage';
export {
  isStorageAwayAtFirst,
  isStorageUnavailable,
  StorageError,
  type StorageErrorKind,
} from './storage-error';
export { untilLetIn } from './until-let-in';
