import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { decodeFaceTrack, highsyncFaceBox, LANDMARK_VALUES } from '@lipsync/engines';
import { sha256OfFile } from '@lipsync/model-pack';
import { z } from '@lipsync/runtime';
import { testFolder } from '@lipsync/testkit';
import { overlap } from './inference/analyzer/face-geometry';
import { type Inference, startInference } from './start-inference';
import { COMPILED_CHILD } from './test/real-child';

/** Recorded by scripts/export/golden_faces.py: every n-th frame's largest face by OpenCV's detector with YuNet. */
const GOLDEN = join(__dirname, '../../../packages/engines/test-data/golden/faces.json');
/** The videos that were recorded show real people, and are not part of the repository. */
const VIDEOS = process.env['RECORDED_VIDEOS_DIR'] ?? join(__dirname, '../../../../shared/media');

const box = z.tuple([z.number(), z.number(), z.number(), z.number()]);
const { videos } = z
  .object({
    videos: z.record(
      z.string(),
      z.object({ sha256: z.string(), every: z.int(), boxes: z.array(box.nullable()) }),
    ),
  })
  .parse(JSON.parse(readFileSync(GOLDEN, 'utf8')));

describe('where Python finds a face, so does the built-in analyzer', () => {
  const at = testFolder();
  let inference: Inference;

  beforeAll(async () => {
    await buildBuiltinPacks(at('packs'));
    inference = await startInference({ packsDir: at('packs'), entry: COMPILED_CHILD });
  }, 60_000);
  afterAll(() => inference.close());

  for (const [name, { sha256, every, boxes }] of Object.entries(videos)) {
    const file = join(VIDEOS, name);
    const where = existsSync(file) ? test : test.skip;
    where(
      `in ${name} (skipped without the video: RECORDED_VIDEOS_DIR names its folder)`,
      async () => {
        expect(await sha256OfFile(file)).toBe(sha256);
        const trackPath = at('face.track');
        await inference.analyze({ videoPath: file, trackPath });
        const track = decodeFaceTrack(await readFile(trackPath));
        const overlaps: number[] = [];
        const differing: number[] = [];
        boxes.forEach((theirs, i) => {
          const frame = i * every;
          if ((theirs !== null) !== (track.found[frame] === 1)) differing.push(frame);
          const ours = highsyncFaceBox(
            track.landmarks.subarray(frame * LANDMARK_VALUES).subarray(0, LANDMARK_VALUES),
          );
          if (theirs === null || ours === null) return;
          const [x1, y1, x2, y2] = theirs;
          overlaps.push(overlap(ours, { x1, y1, x2, y2 }));
        });
        expect(differing).toEqual([]);
        expect(overlaps.length).toBeGreaterThan(0);
        expect(Math.min(...overlaps)).toBeGreaterThan(0.5);
        expect(overlaps.sort((a, b) => a - b)[Math.floor(overlaps.length / 2)]).toBeGreaterThan(0.75);
      },
      300_000,
    );
  }
});
