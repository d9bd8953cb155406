/**
 * Makes samples/face.mp4 and samples/speech.wav: `node scripts/dist/samples/make-samples.js [folder]`. Both are
 * synthesised from formulas; nobody was filmed or recorded. Takes about half a minute.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { encodeVideo } from './face/encode-video';
import { paintPortrait } from './face/portrait';
import { createRenderer } from './face/render-frame';
import { synthesizeSpeech } from './speech/synthesize';
import { UTTERANCE } from './speech/utterance';
import { encodeWav } from './speech/wav-file';

const SAMPLE_RATE = 16_000;
const VIDEO = { width: 640, height: 640, framesPerSecond: 25, frames: 150 };

async function makeSamples(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'speech.wav'),
    encodeWav(synthesizeSpeech(UTTERANCE, SAMPLE_RATE), SAMPLE_RATE),
  );
  const renderer = createRenderer(paintPortrait(), VIDEO);
  await encodeVideo(join(folder, 'face.mp4'), VIDEO, (frame, out) => {
    renderer.render(frame / VIDEO.framesPerSecond, out);
  });
}

makeSamples(resolve(process.argv[2] ?? join(__dirname, '../../../samples'))).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
