import { childEnvironment } from './child-environment';

test('the inference child learns where its tools are, and no credential, address or unknown variable', () => {
  const environment = childEnvironment({
    PATH: '/usr/bin',
    FFMPEG_BIN: '/opt/ffmpeg',
    CUDA_VISIBLE_DEVICES: '0',
    NVIDIA_TF32_OVERRIDE: '0',
    VIDEO_ENCODER: 'h264_nvenc',
    VIDEO_OUTPUT: 'h264',
    MEDIA_SANDBOX: 'required',
    DATABASE_URL: 'postgres://user:password@db/lipsync',
    REDIS_URL: 'redis://:password@redis',
    S3_SECRET_ACCESS_KEY: 'secret',
    MASTER_KEY: 'secret',
    NODE_OPTIONS: '--require=/tmp/x.js',
    AWS_SESSION_TOKEN: 'secret',
    LANG: undefined,
  });
  expect(environment).toEqual({
    MALLOC_MMAP_THRESHOLD_: '33554432',
    MALLOC_TRIM_THRESHOLD_: '134217728',
    ORT_DISABLE_TELEMETRY: '1',
    PATH: '/usr/bin',
    FFMPEG_BIN: '/opt/ffmpeg',
    CUDA_VISIBLE_DEVICES: '0',
    NVIDIA_TF32_OVERRIDE: '0',
    VIDEO_ENCODER: 'h264_nvenc',
    VIDEO_OUTPUT: 'h264',
    MEDIA_SANDBOX: 'required',
  });
});

test('an empty setting counts as absent; an empty list of devices still hides them all', () => {
  const environment = childEnvironment({
    EXECUTION_PROVIDERS: '',
    MODEL_CACHE_BYTES: '',
    GPU_SLOTS: '',
    CUDA_VISIBLE_DEVICES: '',
  });
  expect(environment).not.toHaveProperty('EXECUTION_PROVIDERS');
  expect(environment).not.toHaveProperty('MODEL_CACHE_BYTES');
  expect(environment).not.toHaveProperty('GPU_SLOTS');
  expect(environment).toMatchObject({ CUDA_VISIBLE_DEVICES: '' });
});

test('nobody can turn the telemetry of ONNX Runtime on', () => {
  expect(childEnvironment({ ORT_DISABLE_TELEMETRY: '0' })).toMatchObject({ ORT_DISABLE_TELEMETRY: '1' });
});
