import { readFileSync } from 'node:fs';
import { encodeVideo } from './face/encode-video';
import { createRenderer } from './face/render-frame';
import { type Sound, speechMotion } from './face/speech-motion';

const VIDEO = { width: 640, height: 640, framesPerSecond: 25, frames: 150 };
async function main(): Promise<void> {
  const [out, soundsFile, startText = '1.45'] = process.argv.slice(2);
  if (out === undefined || soundsFile === undefined)
    throw new Error('make-video OUT.mp4 SOUNDS.json [START]');
  const sounds = (JSON.parse(readFileSync(soundsFile, 'utf8')) as Sound[]).map((s) => ({
    ...s,
    start: s.start + Number(startText),
    end: s.end + Number(startText),
  }));
  const motion = speechMotion(sounds);
  const renderer = createRenderer(VIDEO);
  await encodeVideo(out, VIDEO, (frame, rgb) => renderer.render(frame / 25, motion(frame / 25), rgb));
}
main().catch((e: unknown) => {
  console.error(e);
  process.exitCode = 1;
});
