export { contractFetch, type ContractResponse, expectContract } from './contract';
export {
  createCertificateAuthority,
  type HttpsReceiver,
  type KeyPair,
  type ReceivedRequest,
  type ReceiverScript,
  startHttpsReceiver,
  type ReceiverReply,
} from './https-receiver';
export { createSigningCertificate, type SigningCertificate } from './signing-certificate';
export { HUB_COMMIT, type HubServer, startHubServer } from './hub-server';
export { type S3Server, type S3ServerOptions, startS3Server } from './s3/s3-server';
export { eventually, HANG_MS } from './eventually';
export { type Exposition, parseExposition } from './exposition';
export { createFactories, type Factories, TEST_ACT } from './factories';
export { createEmptyDatabase, createTestDatabase, cutConnections, type TestDatabase } from './postgres';
export { testFolder } from './test-folder';
export { testPrefix, testRedisUrl } from './test-run';
export { freePorts, listenOnLoopback } from './servers/ports';
export { hasPython } from './python';
export { isAlive } from './servers/processes';
export {
  postgresBinaries,
  erasePostgres,
  findPostgres,
  startPostgres,
  stopPostgres,
  serverUser,
} from './servers/postgres-server';
export { findRedis, type RunningRedis, startRedis, stopRedis } from './servers/redis-server';
export { REFUSED_ADDRESSES, REFUSED_URLS, MALFORMED_REQUESTS } from './hostile-input';
export {
  DURATION_LIE_SECONDS,
  HOSTILE_MEDIA,
  type HostileMedia,
  makeHostileMedia,
  mutateBytes,
} from './hostile-media';
export {
  ffmpeg,
  ffprobe,
  makeFaceVideo,
  clicksIn,
  findClicks,
  makeClickTrain,
  frameNumbers,
  makeNumberedVideo,
  makeTurnedVideo,
  type NumberedVideoOptions,
  readFrameNumber,
  sayTurned,
  variableRateSeconds,
  makeTone,
} from './test-media';
export {
  lumaPictures,
  lumaPsnr,
  type PictureArea,
  mediaTiming,
  pictureTiming,
  shownPictures,
} from './inspect-media';
export { type OtlpCollector, type ReceivedSpan, startOtlpCollector } from './otlp-collector';
