import { join } from 'node:path';
import { ffmpeg, type SigningCertificate } from '@lipsync/testkit';
import { markOutput } from '../mark-output';
import { openSigner } from '../signer';

export const FACTS = {
  generator: { name: 'lipsync-service', version: '1.2.3' },
  agent: { name: 'musetalk', version: 'builtin-musetalk-4' },
  videoSha256: 'cd'.repeat(32),
  voiceSha256: 'ab'.repeat(32),
  when: new Date('2026-11-27T12:00:00.000Z'),
};

/** More than `ftyp` and a manifest take, and less than the places of pictures are behind them. */
export const HEAD_BYTES = 3_000;

/** A second of picture and sound, as the encoder leaves it. */
export async function renderVideo(folder: string): Promise<string> {
  const rendered = join(folder, 'rendered.mp4');
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=192x192:rate=25:duration=1'];
  const sound = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=1'];
  const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];
  await ffmpeg([...picture, ...sound, ...codecs, '-movflags', '+faststart', rendered]);
  return rendered;
}

/** Signs a file in place, as made of `source`. */
export async function signVideo(file: string, using: SigningCertificate, source: string): Promise<void> {
  const onProblem = (error: Error): never => {
    throw error;
  };
  const signer = await openSigner({ certificate: using.chain, key: using.key, onProblem });
  await markOutput(signer, file, { ...FACTS, source });
}
