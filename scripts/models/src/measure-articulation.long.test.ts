import { execFile, spawnSync } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { testFolder } from '@lipsync/testkit';

const command = path.resolve(__dirname, '../dist/measure-articulation.js');

describe('measure:articulation, by its exit status', () => {
  const at = testFolder();
  beforeAll(async () => {
    await buildBuiltinPacks(at('packs'));
  });

  /** Speaks the sample voice as `filter` changes it, with the times of its sounds as they were before. */
  async function measured(name: string, filter: string): Promise<{ status: number | null; lead: number }> {
    const { ffmpeg } = await resolveBinaries(process.env);
    const voice = at(`${name}.wav`);
    await promisify(execFile)(ffmpeg, ['-v', 'error', '-i', SAMPLE_AUDIO, '-af', filter, voice]);
    await copyFile(SAMPLE_AUDIO.replace(/\.wav$/, '.json'), at(`${name}.json`));
    const options = ['--engines', 'musetalk', '--packs-dir', at('packs')];
    const { status, stdout } = spawnSync(
      process.execPath,
      [command, ...options, '--face', SAMPLE_VIDEO, '--voices', voice],
      { encoding: 'utf8' },
    );
    const { clips } = JSON.parse(stdout) as { clips: { lead_ms: number }[] };
    return { status, lead: clips[0]?.lead_ms ?? NaN };
  }

  test('lips in time pass', async () => {
    expect((await measured('in-time', 'anull')).status).toBe(0);
  });

  test('lips that are 120 ms late fail', async () => {
    const { status, lead } = await measured('late', 'adelay=120');
    expect(lead).toBeLessThan(0);
    expect(status).toBe(1);
  });

  test('lips that are 120 ms early fail', async () => {
    const { status, lead } = await measured('early', 'atrim=start=0.12,asetpts=PTS-STARTPTS');
    expect(lead).toBeGreaterThan(80);
    expect(status).toBe(1);
  });
});
