export { type ContractResponse, expectContract } from './contract';
export { type CertificateAuthority, type KeyPair, createCertificateAuthority } from './https/certificates';
export {
  type HttpsReceiver,
  type ReceivedRequest,
  type ReceiverScript,
  startHttpsReceiver,
} from './https/https-receiver';
export { type ReceiverReply } from './https/receiver-reply';
export { type S3Faults } from './s3/faults';
export { type S3Server, type S3ServerOptions, startS3Server } from './s3/s3-server';
export { eventually } from './eventually';
export { type Exposition, type MetricFamily, parseExposition, type Sample } from './exposition';
export { createFactories, type Factories } from './factories';
export { createEmptyDatabase, createTestDatabase, cutConnections, type TestDatabase } from './postgres';
export { testPrefix, testRedisUrl } from './redis';
export { freePorts } from './servers/free-ports';
export { isAlive } from './servers/is-alive';
export { listenOnLoopback } from './servers/listen';
export { postgresBinaries } from './servers/postgres-binaries';
export {
  erasePostgres,
  findPostgres,
  type PostgresOptions,
  type RunningPostgres,
  startPostgres,
  stopPostgres,
} from './servers/postgres-server';
export {
  findRedis,
  type RedisOptions,
  type RunningRedis,
  startRedis,
  stopRedis,
} from './servers/redis-server';
export { serverUser } from './servers/server-user';
export { REFUSED_ADDRESSES, REFUSED_URLS } from './hostile-addresses';
export {
  DURATION_LIE_SECONDS,
  HOSTILE_MEDIA,
  type HostileMedia,
  makeHostileMedia,
  mutateBytes,
} from './hostile-media';
export { MALFORMED_REQUESTS } from './hostile-requests';
export { ffmpeg, ffprobe } from './media-tools';
export { type FaceVideoOptions, makeFaceVideo } from './face-video';
export { lumaPictures, lumaPsnr, type PictureArea } from './luma-pictures';
export { mediaTiming, shownPictures, type StreamTiming } from './media-timing';
export { clicksIn, type ClickTrainOptions, findClicks, makeClickTrain } from './click-train';
export {
  frameNumbers,
  makeNumberedVideo,
  makeTurnedVideo,
  type NumberedVideoOptions,
  readFrameNumber,
  sayTurned,
  variableRateSeconds,
} from './numbered-video';
export { type OtlpCollector, type ReceivedSpan, startOtlpCollector } from './otlp-collector';
export { makeTone, type ToneOptions } from './tone';
