import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBuiltinPacks, writeLatentsyncPack } from '@lipsync/builtin-packs';
import { type Engine, ENGINES, type SyncMode } from '@lipsync/contract';
import {
  decodeFaceTrack,
  type FaceTrack,
  LANDMARK_VALUES,
  lookColors,
  MOUTH,
  mouthOpening,
} from '@lipsync/engines';
import { goldenPack } from '@lipsync/engines/test';
import {
  ffmpeg,
  lumaPictures,
  lumaPsnr,
  makeFaceVideo,
  mediaTiming,
  type PictureArea,
} from '@lipsync/testkit';
import { checkPack } from './host/check-pack';
import { landmarkBounds } from './inference/analyzer/face-geometry';
import { type Inference, startInference } from './start-inference';
import { COMPILED_CHILD } from './test/real-child';

const SPEECH = join(__dirname, '../../../samples/speech.wav');
const GOLDEN = join(__dirname, '../../../packages/engines/test-data/golden');

/**
 * PSNR of luma, in dB. Pictures that were only re-encoded reach 47 and more; with a speaking mouth they stay below
 * this.
 */
const UNTOUCHED = 44;
const MOVED = 32;
/**
 * Two encodings of the same pictures reach 59 and more, and 52 where short shots share the pictures of their mouths;
 * with a mouth slightly out of place they stay below 49.
 */
const SAME = 51;

/** Pixels. The painted face moves by no more; the nearest other face is 100 away. */
const SAME_PLACE = 10;

/** The same mouth rendered at a finer and a coarser resolution, compared over the whole picture. */
const ALIKE = 32;

interface Size {
  readonly width: number;
  readonly height: number;
}

interface HardVideo {
  readonly what: string;
  readonly size: Size;
  readonly frames: number;
  /** The filters applied to the painted face, see `makeFaceVideo`. */
  readonly filters: string;
  /** Whether the face must be seen in a frame (true) or must not (false); undefined where either is right. */
  readonly seen: (frame: number) => boolean | undefined;
  /** Whether the last frame shows the face where the first one did, so that it is recognized as the same face. */
  readonly comesBack?: true;
}

const SQUARE = { width: 256, height: 256 };
const WALL = 'color=0x8a9a90:r=25';
const between = (frame: number, first: number, last: number): boolean => frame >= first && frame <= last;
const always = (): boolean => true;

const VIDEOS: HardVideo[] = [
  {
    what: 'is cut off by the border',
    size: { width: 194, height: 320 },
    frames: 12,
    filters: 'crop=388:640:0:0,scale=194:320',
    seen: always,
  },
  {
    what: 'leaves and returns',
    size: { width: 384, height: 256 },
    frames: 34,
    filters: `[0]scale=256:256[face];${WALL}:s=384x256[wall];
      [wall][face]overlay=x='64+34*max(0,min(9,min(n-5,30-n)))':eval=frame:shortest=1`,
    seen: (frame) => (frame <= 6 || frame >= 30 ? true : between(frame, 13, 22) ? false : undefined),
    comesBack: true,
  },
  {
    what: 'is hidden for a while beside another one that comes nearer',
    size: { width: 512, height: 320 },
    frames: 22,
    filters: `[0]scale=256:256,split[a][b];
      [a]drawbox=60:50:140:160:gray:fill:enable='between(n,7,14)',pad=512:320:0:32[main];
      [b]scale=w='2*trunc(64+3.5*n)':h='2*trunc(64+3.5*n)':eval=frame[other];
      [main][other]overlay=x='384-w/2':y='160-h/2':eval=frame`,
    seen: (frame) => !between(frame, 7, 14),
    comesBack: true,
  },
  {
    what: 'turns by fifty degrees',
    size: SQUARE,
    frames: 14,
    filters: "scale=256:256,rotate='-50*PI/180*max(0,min(1,(n-2)/10))':fillcolor=gray",
    seen: always,
  },
  {
    what: 'narrows to a quarter as that of a head that turns away, and widens again beside another one',
    size: { width: 384, height: 256 },
    frames: 24,
    filters: `[0]split[a][b];${WALL}:s=384x256[wall];
      [a]scale=w='2*trunc(128*(1-0.75*max(0,min(1,min(n-3,23-n)/6))))':h=256:eval=frame[main];
      [b]scale=120:120[other];
      [wall][main]overlay=x='128-w/2':eval=frame:shortest=1[one];[one][other]overlay=x=260:y=68`,
    seen: (frame) => (frame <= 4 || frame >= 21 ? true : between(frame, 10, 16) ? false : undefined),
    comesBack: true,
  },
  {
    what: 'is turned aside, three fifths as wide',
    size: SQUARE,
    frames: 10,
    filters: 'scale=154:256,pad=256:256:51:0:gray,setsar=1',
    seen: always,
  },
  {
    what: 'is stored half as wide as it is shown',
    size: { width: 160, height: 320 },
    frames: 10,
    filters: 'scale=160:320,setsar=2',
    seen: always,
  },
  {
    what: 'is 36 pixels wide',
    size: { width: 112, height: 112 },
    frames: 10,
    filters: 'scale=112:112',
    seen: always,
  },
  {
    what: 'is 1600 pixels wide in a 4K picture',
    size: { width: 3840, height: 2160 },
    frames: 2,
    filters: 'crop=480:270:93:185,scale=3840:2160',
    seen: always,
  },
  {
    what: 'appears out of the black and is gone again for 5 black frames',
    size: SQUARE,
    frames: 22,
    filters: "scale=256:256,drawbox=0:0:iw:ih:black:fill:enable='lt(n,4)+between(n,10,14)'",
    seen: (frame) => frame >= 4 && !between(frame, 10, 14),
  },
];

describe('a render', () => {
  let folder: string;
  let inference: Inference;
  const at = (name: string): string => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hard-faces-'));
    await buildBuiltinPacks(at('packs'));
    inference = await startInference({ packsDir: at('packs'), entry: COMPILED_CHILD });
  }, 60_000);
  afterAll(async () => {
    inference.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Also leaves the track beside the video. */
  async function trackOf(video: string): Promise<FaceTrack> {
    await inference.analyze({ videoPath: at(video), trackPath: at(`${video}.track`) });
    return decodeFaceTrack(await readFile(at(`${video}.track`)));
  }

  /** Renders a video whose track lies beside it, to out.mp4; returns the luma of its frames. */
  async function render(
    engine: Engine,
    video: string,
    audio: string,
    syncMode: SyncMode,
    { frames, size = SQUARE }: { frames: number; size?: Size },
  ): Promise<Uint8Array[]> {
    const paths = { videoPath: at(video), faceTrackPath: at(`${video}.track`), audioPath: at(audio) };
    const result = await inference.render({ engine, syncMode, ...paths, outputPath: at('out.mp4') });
    expect(result.renderedFrames).toBe(frames);
    const { pictures, sound } = await mediaTiming(at('out.mp4'));
    expect(pictures.starts).toEqual(Array.from({ length: frames }, (_, i) => i / 25));
    expect(Math.abs(sound.end - pictures.end)).toBeLessThan(1 / 25);
    const shown = await lumaPictures(at('out.mp4'), size);
    expect(shown).toHaveLength(frames);
    return shown;
  }

  /** Uses another folder's packs instead of the built-in ones. */
  async function withPacks(name: string, action: () => Promise<void>): Promise<void> {
    const usual = inference;
    inference = await startInference({ packsDir: at(name), entry: COMPILED_CHILD });
    try {
      await action();
    } finally {
      inference.close();
      inference = usual;
    }
  }

  const speak = async (frames: number): Promise<Buffer> =>
    ffmpeg(['-ss', '0.38', '-i', SPEECH, '-t', String(frames / 25), at('voice.wav')]);

  test.each(VIDEOS)(
    'of a face that $what moves its mouth wherever it is seen, and nothing else',
    async ({ size, frames, filters, seen, comesBack }) => {
      await makeFaceVideo(at('video.mp4'), { frames, filters });
      await speak(frames);
      const track = await trackOf('video.mp4');
      const found = Array.from(track.found, Boolean);
      expect(found).toEqual(found.map((face, i) => seen(i) ?? face));
      if (comesBack) expectSameFace(track);
      const before = await lumaPictures(at('video.mp4'), size);
      for (const engine of ENGINES) {
        const after = await render(engine, 'video.mp4', 'voice.wav', 'cut_off', { frames, size });
        expectNothingElse(after, before, track, size);
        expectSpeech(after, before, track, size);
      }
    },
    60_000,
  );

  test('of two shots shows the first as if there were no second: nothing is smoothed across a cut', async () => {
    const [first, both] = [12, 18];
    // In another color, so that the second gives the first no pictures of its mouth.
    const shots = `split[a][b];[a]scale=256:256,setsar=1[one];
      [b]hflip,crop=400:400:180:60,hue=h=60,scale=256:256,setsar=1[two];
      [one][two]overlay=enable='gte(n,${first})'`;
    await makeFaceVideo(at('first.mp4'), { frames: first, filters: shots });
    await makeFaceVideo(at('both.mp4'), { frames: both, filters: shots });
    await speak(both);
    await trackOf('first.mp4');
    const track = await trackOf('both.mp4');
    expect([...track.cuts.keys()].filter((frame) => track.cuts[frame] === 1)).toEqual([0, first]);
    expect(track.found).not.toContain(0);
    for (const engine of ENGINES) {
      const alone = await render(engine, 'first.mp4', 'voice.wav', 'cut_off', { frames: first });
      const joined = await render(engine, 'both.mp4', 'voice.wav', 'cut_off', { frames: both });
      const likeness = alone.map((picture, i) =>
        lumaPsnr(picture, joined[i] ?? new Uint8Array(), SQUARE.width, { outside: NOWHERE }),
      );
      expect(Math.min(...likeness)).toBeGreaterThan(SAME);
    }
  }, 60_000);

  test('of two people in turn gives everybody their own lips, on either side of the cut', async () => {
    const [first, both] = [26, 52];
    // Both have the same skin: the lips of the first are redder than the painted ones, those of the second as pale as the skin.
    const people = `split[a][b];[a]lutyuv=v='if(gt(val,152),152+5*(val-152),val)',scale=256:256,setsar=1[one];
      [b]lutyuv=v='min(val,152)',hflip,crop=400:400:120:100,eq=brightness=0.08,scale=256:256,setsar=1[two];
      [one][two]overlay=enable='gte(n,${first})'`;
    await makeFaceVideo(at('people.mp4'), { frames: both, filters: people });
    await speak(both);
    const track = await trackOf('people.mp4');
    expect([...track.cuts.keys()].filter((frame) => track.cuts[frame] === 1)).toEqual([0, first]);
    expect(new Set(track.looks).size).toBe(2);
    const before = await lipColors('people.mp4', track);
    const [red, pale] = [before.slice(0, first), before.slice(first)].map(meanOf);
    const toRed = (color: readonly number[]): number => distance(color, red) - distance(color, pale);
    expect(distance(red ?? [], pale)).toBeGreaterThan(15);
    for (const engine of ENGINES) {
      await render(engine, 'people.mp4', 'voice.wav', 'cut_off', { frames: both });
      const after = (await lipColors('out.mp4', await trackOf('out.mp4'))).map(toRed);
      expect(Math.max(...after.slice(0, first))).toBeLessThan(-10);
      expect(Math.min(...after.slice(first))).toBeGreaterThan(10);
    }
  }, 120_000);

  /** The a* and b* of the lips in every frame. */
  async function lipColors(video: string, { frames, landmarks }: FaceTrack): Promise<number[][]> {
    const pixels = await ffmpeg(['-i', at(video), '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-']);
    const size = 3 * SQUARE.width * SQUARE.height;
    return Array.from({ length: frames }, (_, frame) => {
      const data = pixels.subarray(frame * size, (frame + 1) * size);
      const face = landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES);
      return lookColors({ ...SQUARE, data }, face).slice(1, 3);
    });
  }

  test('of a still image moves its mouth for as long as the voice lasts', async () => {
    await makeFaceVideo(at('video.mp4'), { frames: 1, filters: 'scale=256:256' });
    await speak(12);
    const still = widest(await trackOf('video.mp4'));
    const [picture = new Uint8Array()] = await lumaPictures(at('video.mp4'), SQUARE);
    for (const engine of ENGINES) {
      const after = await render(engine, 'video.mp4', 'voice.wav', 'bounce', { frames: 12 });
      const track = await trackOf('out.mp4');
      expectNothingElse(
        after,
        after.map(() => picture),
        track,
        SQUARE,
      );
      expect(widest(track)).toBeGreaterThan(1.4 * still);
    }
  }, 60_000);

  // Only latentsync: of the built-in packs only its can be made in another size.
  test('with a pack of 512 pixels moves the same mouth as one of 256, and nothing else', async () => {
    const [size, frames] = [{ width: 512, height: 512 }, 18];
    await cp(at('packs/analyzer'), at('fine/analyzer'), { recursive: true });
    await writeLatentsyncPack(at('fine/latentsync'), 512);
    await makeFaceVideo(at('video.mp4'), { frames, filters: 'scale=512:512' });
    await speak(frames);
    const track = await trackOf('video.mp4');
    const before = await lumaPictures(at('video.mp4'), size);
    const coarse = await render('latentsync', 'video.mp4', 'voice.wav', 'cut_off', { frames, size });
    await withPacks('fine', async () => {
      const fine = await render('latentsync', 'video.mp4', 'voice.wav', 'cut_off', { frames, size });
      expectNothingElse(fine, before, track, size);
      expectSpeech(fine, before, track, size);
      const likeness = fine.map((picture, i) =>
        lumaPsnr(picture, coarse[i] ?? new Uint8Array(), size.width, { outside: NOWHERE }),
      );
      expect(Math.min(...likeness)).toBeGreaterThan(ALIKE);
    });
  }, 60_000);

  // The weights are random, so all that such a mouth can show is that the face changed.
  test.each(ENGINES)(
    'with a pack of %s written by its exporter changes the face, and nothing else',
    async (engine) => {
      const frames = 18;
      const kept = goldenPack(join(GOLDEN, engine, 'pack'));
      await cp(at('packs/analyzer'), at(`exported-${engine}/analyzer`), { recursive: true });
      await cp(kept.directory, at(`exported-${engine}/pack`), { recursive: true });
      kept.remove();
      const { problem } = await checkPack(at(`exported-${engine}/pack`), { entry: COMPILED_CHILD });
      expect(problem).toBeUndefined();
      await makeFaceVideo(at('video.mp4'), { frames, filters: 'scale=256:256' });
      await speak(frames);
      const track = await trackOf('video.mp4');
      const before = await lumaPictures(at('video.mp4'), SQUARE);
      await withPacks(`exported-${engine}`, async () => {
        const after = await render(engine, 'video.mp4', 'voice.wav', 'cut_off', { frames });
        expectNothingElse(after, before, track, SQUARE);
        expectSpeech(after, before, track, SQUARE);
      });
    },
    60_000,
  );

  const makeSound = async (source: string, frames: number): Promise<Buffer> =>
    ffmpeg(['-f', 'lavfi', '-i', source, '-t', String(frames / 25), at('sound.wav')]);

  test('with silence keeps the mouth closed', async () => {
    await makeFaceVideo(at('video.mp4'), { frames: 8, filters: 'scale=256:256' });
    await trackOf('video.mp4');
    await makeSound('anullsrc=r=16000:cl=mono', 8);
    for (const engine of ENGINES) {
      await render(engine, 'video.mp4', 'sound.wav', 'loop', { frames: 8 });
      expect(widest(await trackOf('out.mp4'))).toBeLessThan(0.1);
    }
  }, 60_000);

  test('with noise changes nothing but the face', async () => {
    await makeFaceVideo(at('video.mp4'), { frames: 8, filters: 'scale=256:256' });
    const track = await trackOf('video.mp4');
    await makeSound('anoisesrc=r=16000:a=1:seed=1', 8);
    const before = await lumaPictures(at('video.mp4'), SQUARE);
    for (const engine of ENGINES) {
      const after = await render(engine, 'video.mp4', 'sound.wav', 'loop', { frames: 8 });
      expectNothingElse(after, before, track, SQUARE);
    }
  }, 60_000);

  test('of black frames alone fails with no_face_detected', async () => {
    await makeFaceVideo(at('black.mp4'), {
      frames: 8,
      filters: 'scale=256:256,drawbox=0:0:iw:ih:black:fill',
    });
    await expect(trackOf('black.mp4')).rejects.toMatchObject({ code: 'no_face_detected' });
  }, 60_000);

  test('of a face too small for its picture fails with no_face_detected: 36 pixels of 1280', async () => {
    await makeFaceVideo(at('far.mp4'), { frames: 8, filters: 'scale=112:112,pad=1280:720:584:304:gray' });
    await expect(trackOf('far.mp4')).rejects.toMatchObject({ code: 'no_face_detected' });
  }, 60_000);
});

const meanOf = (colors: readonly (readonly number[])[]): number[] =>
  [0, 1].map((part) => colors.reduce((sum, color) => sum + (color[part] ?? NaN), 0) / colors.length);

const distance = (a: readonly number[], b: readonly number[] = []): number =>
  Math.hypot(...a.map((value, i) => value - (b[i] ?? NaN)));

/** The face of the last frame is where the first frame's was; other faces are further away. */
function expectSameFace(track: FaceTrack): void {
  const placeAt = (frame: number): PictureArea => faceAt(track, frame)?.around ?? NOWHERE;
  const [before, after] = [placeAt(0), placeAt(track.frames - 1)];
  const sides = ['x1', 'y1', 'x2', 'y2'] as const;
  expect(Math.max(...sides.map((side) => Math.abs(after[side] - before[side])))).toBeLessThan(SAME_PLACE);
}

/** Nothing but the face has changed, and frames without a face are unchanged. */
function expectNothingElse(
  after: Uint8Array[],
  before: Uint8Array[],
  track: FaceTrack,
  { width }: Size,
): void {
  const changes = after.map((picture, i) =>
    lumaPsnr(before[i] ?? picture, picture, width, { outside: faceAt(track, i)?.around ?? NOWHERE }),
  );
  expect(Math.min(...changes)).toBeGreaterThan(UNTOUCHED);
}

/** At least one mouth differs from before. */
function expectSpeech(after: Uint8Array[], before: Uint8Array[], track: FaceTrack, { width }: Size): void {
  const mouths = after.map((picture, i) => {
    const face = faceAt(track, i);
    return face ? lumaPsnr(before[i] ?? picture, picture, width, { in: face.mouth }) : Infinity;
  });
  expect(Math.min(...mouths)).toBeLessThan(MOVED);
}

const NOWHERE: PictureArea = { x1: 0, y1: 0, x2: 0, y2: 0 };

/**
 * A face's mouth in a frame, and the area that an engine may redraw around the face, including what encoding spreads.
 */
function faceAt(track: FaceTrack, frame: number): { around: PictureArea; mouth: PictureArea } | null {
  if (track.found[frame] !== 1) return null;
  const points = track.landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES);
  const { x1, y1, x2, y2 } = landmarkBounds(points);
  const margin = 0.3 * Math.max(x2 - x1, y2 - y1);
  return {
    around: { x1: x1 - margin, y1: y1 - margin, x2: x2 + margin, y2: y2 + margin },
    mouth: landmarkBounds(points, ...MOUTH),
  };
}

/** The widest that the mouth opens in a video. */
function widest({ frames, landmarks }: FaceTrack): number {
  const openings = Array.from({ length: frames }, (_, frame) =>
    mouthOpening(landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES)),
  );
  return Math.max(...openings);
}
