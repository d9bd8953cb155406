import { execFile } from 'node:child_process';
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { constantClock } from '@lipsync/domain';
import { eventually, makeNumberedVideo, makeTone, readFrameNumber, testFolder } from '@lipsync/testkit';
import { type FrameEncoder, openEncoder } from './encode/encoder';
import { type Binaries, resolveBinaries, SOFTWARE_CODECS } from './ffmpeg/binaries';
import { inspect } from './probe/inspect';
import { createTrialClip, decodeTrialClip, resolveVideoCodecs, trialFrames } from './resolve-video-codecs';
import { framesOf } from './test/media-files';
import { writeTool } from './test/tools';

/** Only Linux offers what these tests need to observe this. */
const onLinux = process.platform === 'linux' ? it : it.skip;
const DEADLINE_MS = 60_000;
/** What ffmpeg says when there is no driver or no card; a mistake in our arguments reads differently. */
const NO_CARD = /libcuda|CUDA_ERROR|No capable devices/;

const H264 = { output: 'h264' } as const;

let binaries: Binaries;
const at = testFolder();

beforeAll(async () => {
  binaries = await resolveBinaries({ PATH: process.env['PATH'], FFMPEG_BIN: process.env['FFMPEG_BIN'] });
});

/** The same machine with its card, if any, hidden. */
const withoutCard = (): Binaries => ({ ...binaries, deviceEnvironment: { CUDA_VISIBLE_DEVICES: '-1' } });

describe('on a machine whose card cannot be used', () => {
  it('auto takes software and says what it passed over and why', async () => {
    const resolved = await resolveVideoCodecs(withoutCard(), { ...H264, encoder: 'auto', decoder: 'auto' });
    expect(resolved.codecs).toEqual(SOFTWARE_CODECS);
    expect(resolved.passedOver.map(({ codec }) => codec)).toEqual(['h264_nvenc', 'cuda']);
    for (const { reason } of resolved.passedOver) expect(reason).toMatch(NO_CARD);
  });

  it.each([
    ['VIDEO_ENCODER=h264_nvenc', { ...H264, encoder: 'h264_nvenc', decoder: 'software' }],
    ['VIDEO_DECODER=cuda', { ...H264, encoder: 'libx264', decoder: 'cuda' }],
  ] as const)('%s is refused with the reason, instead of failing every render', async (setting, wanted) => {
    const resolving = resolveVideoCodecs(withoutCard(), wanted);
    await expect(resolving).rejects.toThrow(
      new RegExp(`^${setting} does not work here: .*(${NO_CARD.source})`),
    );
  });
});

describe('a reader that was told to use a card', () => {
  const onCard = (tools: Binaries): Binaries => ({
    ...tools,
    codecs: { ...SOFTWARE_CODECS, decoder: 'cuda' },
  });

  const read = (tools: Binaries): Promise<readonly Uint8Array[]> => framesOf(tools, at('numbered.mp4'));

  beforeAll(() => makeNumberedVideo(at('numbered.mp4'), { frames: 20, rate: '30' }));

  it('goes on in software when there is none, with the same frames', async () => {
    expect(await read(onCard(withoutCard()))).toEqual(await read(binaries));
  });

  it('goes on in software from the very frame at which the card gives up', async () => {
    // Stands in for a card: decodes what it is told to decode on a card, and dies within the eighth frame.
    const frameBytes = (192 * 64 * 3) / 2;
    const script = [
      `case "$*" in *-hwaccel*) ;; *) exec "${binaries.ffmpeg}" "$@" ;; esac`,
      'for a in "$@"; do shift; case "$a" in -hwaccel|cuda) ;; *) set -- "$@" "$a" ;; esac; done',
      `"${binaries.ffmpeg}" "$@" 2>/dev/null | head -c ${7.5 * frameBytes}`,
      'exit 1',
    ];
    const dying = await writeTool(at('dying-card.sh'), script.join('\n'));
    const frames = await read(onCard({ ...binaries, ffmpeg: dying }));
    expect(frames).toHaveLength(20);
    expect(frames).toEqual(await read(binaries));
  });

  it('goes on in software when the card fails at a single picture, instead of showing the one before twice', async () => {
    // Stands in for a card: reads a copy of the file that has one undecodable picture.
    const script = [
      `case "$*" in *-hwaccel*) ;; *) exec "${binaries.ffmpeg}" "$@" ;; esac`,
      'for a in "$@"; do shift; case "$a" in -hwaccel|cuda) ;;',
      'file:numbered.mp4) set -- "$@" file:scratched.mp4 ;; *) set -- "$@" "$a" ;; esac; done',
      `exec "${binaries.ffmpeg}" "$@"`,
    ];
    const failing = await writeTool(at('failing-card.sh'), script.join('\n'));
    await scratch(at('numbered.mp4'), at('scratched.mp4'), 9);
    expect(await read(onCard({ ...binaries, ffmpeg: failing }))).toEqual(await read(binaries));
  });

  /** Copies a video and makes one of its packets unreadable. */
  async function scratch(from: string, to: string, packet: number): Promise<void> {
    const args = [...'-v error -select_streams V:0 -show_entries packet=pos -of csv=p=0'.split(' '), from];
    const { stdout } = await promisify(execFile)(binaries.ffprobe, args);
    const start = Number.parseInt(stdout.split('\n')[packet] ?? '', 10);
    const bytes = await readFile(from);
    await writeFile(to, bytes.fill(0xff, start, start + 8));
  }
});

describe('an encoder that was told to use a card', () => {
  const FRAMES = 12;
  const SIZE = { width: 256, height: 256 };
  const onCard = (tools: Binaries): Binaries => ({
    ...tools,
    codecs: { ...SOFTWARE_CODECS, encoder: 'h264_nvenc' },
  });
  let pictures: readonly Uint8Array[];

  beforeAll(async () => {
    await makeNumberedVideo(at('pictures.mp4'), { ...SIZE, frames: FRAMES });
    await makeTone(at('tone.wav'), { seconds: FRAMES / 25 });
    pictures = await decodeTrialClip(binaries, at('pictures.mp4'), 'software');
  });

  async function open(tools: Binaries, signal?: AbortSignal): Promise<FrameEncoder> {
    const path = at('tone.wav');
    const { audio: stream } = await inspect(binaries, path);
    if (stream === undefined) throw new Error('no sound');
    const clock = constantClock({ num: 25, den: 1 }, FRAMES);
    const pictures = { ...SIZE, depth: 8, clock, color: {} } as const;
    const settings = { outputPath: at('encoded.mp4'), ...pictures };
    return openEncoder(tools, { ...settings, audio: { path, stream } }, { deadlineMs: DEADLINE_MS, signal });
  }

  /** Writes the pictures as a caller does that has one buffer for all of them. */
  async function writeAll(encoder: FrameEncoder): Promise<void> {
    const buffer = new Uint8Array(encoder.frameBytes);
    for (const picture of pictures) {
      buffer.set(picture);
      await encoder.write(buffer);
    }
  }

  async function encodedNumbers(): Promise<number[]> {
    const frames = await decodeTrialClip(binaries, at('encoded.mp4'), 'software');
    return frames.map((frame) => readFrameNumber(frame, SIZE.width));
  }
  const all = Array.from({ length: FRAMES }, (_, i) => i);

  /**
   * Stands in for a card whose encoder opens: x264, with `before` run in the shell first. It offers no other encoder.
   */
  async function openingCard(before = ''): Promise<Binaries> {
    const script = [
      'case "$*" in *h264_nvenc*) ;; *) echo "no card was asked for" >&2; exit 1 ;; esac',
      'for a in "$@"; do shift; if [ "$skip" ]; then skip=; continue; fi; case "$a" in',
      '-preset|-tune|-rc|-cq|-rc-lookahead|-spatial-aq|-temporal-aq) skip=1 ;;',
      'h264_nvenc) set -- "$@" libx264 ;; *) set -- "$@" "$a" ;; esac; done',
      `${before}"${binaries.ffmpeg}" "$@"`,
    ];
    const path = await writeTool(at('opening-card.sh'), script.join('\n'));
    return { ...binaries, ffmpeg: path };
  }

  it('encodes in software, from the first frame on, when the card gives it no encoder', async () => {
    const encoder = await open(onCard(withoutCard()));
    await writeAll(encoder);
    await encoder.finish();
    expect(await encodedNumbers()).toEqual(all);
  });

  it('does so in the order of the frames when all of them are written at once', async () => {
    const encoder = await open(onCard(withoutCard()));
    await Promise.all(pictures.map((picture) => encoder.write(picture)));
    await encoder.finish();
    expect(await encodedNumbers()).toEqual(all);
  });

  it('uses the card when that opens, also for a caller who writes one frame after the other', async () => {
    const encoder = await open(onCard(await openingCard()));
    await writeAll(encoder);
    await encoder.finish();
    expect(await encodedNumbers()).toEqual(all);
  });

  it('forgets the pictures once the card has opened', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const encoder = await open(onCard(await openingCard()));
    const written: WeakRef<Uint8Array>[] = [];
    for (const picture of pictures) {
      const copy = picture.slice();
      written.push(new WeakRef(copy));
      await encoder.write(copy);
    }
    await eventually(() => {
      collectGarbage();
      // The pipe may hold the last one.
      expect(written.slice(0, -1).filter((each) => each.deref() !== undefined)).toHaveLength(0);
    });
    await encoder.finish();
  });

  it('uses the card also when the first thing that ffmpeg complains of is the sound', async () => {
    const complaint = 'echo "[mp3float @ 0x1] Header missing" >&2; ';
    const encoder = await open(onCard(await openingCard(complaint)));
    await writeAll(encoder);
    await encoder.finish();
    expect(await encodedNumbers()).toEqual(all);
  });

  it('fails when the card gives up midway: the frames before are gone', async () => {
    // Fewer bytes than all frames have, each passed on as soon as it is there.
    const part = 'dd bs=65536 count=16 2>/dev/null | ';
    const encoder = await open(onCard(await openingCard(part)));
    const writing = writeAll(encoder).then(() => encoder.finish());
    await expect(writing).rejects.toMatchObject({ code: 'encode_failed' });
    await encoder.abort();
  });

  onLinux('begins again only when the refused one is gone, since both write the same file', async () => {
    // Stands in for a card whose process complains and is slow to end: until the file is gone.
    const held = at('held');
    const complaint = 'echo "[h264_nvenc @ 0x1] no session" >&2';
    const rest = `${complaint}; cat > /dev/null; touch "${held}"; while [ -e "${held}" ]; do sleep 0.01; done`;
    const script = [
      `case "$*" in *h264_nvenc*) ;; *) exec "${binaries.ffmpeg}" "$@" ;; esac`,
      `exec 3<&0; setsid sh -c '${rest}' <&3 3<&- &`,
      'wait',
    ];
    const lingering = await writeTool(at('lingering-card.sh'), script.join('\n'));
    let replaced = false;
    const tools = { ...binaries, ffmpeg: lingering, onReplaced: () => (replaced = true) };
    const encoder = await open(onCard(tools));
    const writing = writeAll(encoder).then(() => encoder.finish());
    // It exists once the refusal is known.
    await eventually(() => access(held));
    expect(replaced).toBe(false);
    await rm(held);
    await writing;
    expect(replaced).toBe(true);
    expect(await encodedNumbers()).toEqual(all);
  });

  it('does not begin again when it is stopped while the card is asked', async () => {
    const script = [`echo started >> "${at('starts')}"`, 'exec sleep 60'];
    const silent = await writeTool(at('silent-card.sh'), script.join('\n'));
    const encoder = await open(onCard({ ...binaries, ffmpeg: silent }));
    const writing = encoder.write(new Uint8Array(encoder.frameBytes));
    await eventually(async () => expect(await readFile(at('starts'), 'utf8')).toBe('started\n'));
    await encoder.abort();
    await Promise.allSettled([writing]);
    expect(await readFile(at('starts'), 'utf8')).toBe('started\n');
  });
});

it('software is taken untried, so that a worker without a card starts at once', async () => {
  const nothing = await writeTool(at('only-help.sh'), 'echo "Filter ${3#filter=}"');
  const resolved = await resolveVideoCodecs(
    { ...binaries, ffmpeg: nothing },
    { ...H264, encoder: 'libx264', decoder: 'software' },
  );
  expect(resolved).toEqual({ codecs: SOFTWARE_CODECS, ...H264, passedOver: [] });
});

it('H.264 for everything is refused where HDR cannot be turned into SDR', async () => {
  const lacking = { ...binaries, ffmpeg: await writeTool(at('lacking.sh'), 'exit 0') };
  const wanted = { ...H264, encoder: 'libx264', decoder: 'software' } as const;
  await expect(resolveVideoCodecs(lacking, wanted)).rejects.toThrow(/lacks the filter zscale/);
});

it('a trial ends well with a codec that works: every frame comes out', async () => {
  const clip = await createTrialClip(binaries, at(), 'libx264');
  expect(await decodeTrialClip(binaries, clip, 'software')).toHaveLength(trialFrames().length);
});

it('the names that a process is started with must be of codecs: "auto" was resolved before', async () => {
  const resolving = resolveBinaries({ PATH: process.env['PATH'], VIDEO_ENCODER: 'auto' });
  await expect(resolving).rejects.toThrow('VIDEO_ENCODER is none of libx264, h264_nvenc');
});
