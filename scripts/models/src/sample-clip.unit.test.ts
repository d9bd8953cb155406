import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeClip } from './sample-clip';

const script = readFileSync(path.resolve(__dirname, '../../../deploy/docker/ffmpeg.sh'), 'utf8');
/** Whether ffmpeg is built with this filter or muxer. */
const has = (kind: string, name = ''): boolean =>
  new RegExp(`--enable-${kind}=(\\S+,)?${name}[,\\s]`).test(script);

test('the ffmpeg of the images has the filters and muxers that make a clip', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sample-clip-'));
  try {
    const [ffmpeg, log] = [path.join(folder, 'ffmpeg'), path.join(folder, 'log')];
    await writeFile(ffmpeg, `#!/bin/sh\nprintf '%s\\n' "$@" >>"${log}"\n`);
    await chmod(ffmpeg, 0o755);
    await makeClip(ffmpeg, folder, { width: 640, height: 360, seconds: 1, fps: 25, grain: 4 });
    const args = (await readFile(log, 'utf8')).split('\n');
    const filters = (args[args.indexOf('-vf') + 1] ?? '').split(',').map((filter) => filter.split('=')[0]);
    expect(filters.filter((name) => !has('filter', name))).toEqual([]);
    const made = args.flatMap((arg) => (arg.startsWith(folder) ? [path.extname(arg).slice(1)] : []));
    expect(made).toEqual(['mp4', 'wav']);
    expect(made.filter((name) => !has('muxer', name))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
