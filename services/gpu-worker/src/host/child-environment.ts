/** What the child may know: where binaries and libraries lie, which devices and codecs it has. Never a credential or address. */
const PASSED = [
  'PATH',
  'HOME',
  'TMPDIR',
  'TZ',
  'LANG',
  'NODE_ENV',
  'LD_LIBRARY_PATH',
  'FFMPEG_BIN',
  'FFPROBE_BIN',
  'VIDEO_ENCODER',
  'VIDEO_DECODER',
  'CUDA_VISIBLE_DEVICES',
  'CUDA_DEVICE_ORDER',
  'NVIDIA_VISIBLE_DEVICES',
  'NVIDIA_DRIVER_CAPABILITIES',
];

/** The environment of the inference child. It parses untrusted media, so it gets an allow-list, not a deny-list. */
export function childEnvironment(
  source: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of PASSED) {
    const value = source[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
