export { type ApiConfig, type ApiDeps } from './api-deps';
export { createApp } from './app';
export { composeApi } from './compose-api';
export { type ApiEnv, loadApiEnv } from './env';
export { createServer } from './server';
