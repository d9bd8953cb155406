export { loadMediaWorkerEnv, type MediaWorkerEnv } from './env';
export { startMediaWorker } from './start-media-worker';
