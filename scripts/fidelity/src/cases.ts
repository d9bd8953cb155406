import { type SyncMode } from '@lipsync/contract';
import { type SceneOptions } from './scene';
import { type VoiceName, VOICES } from './voices';

/** One source, one voice, one mode. */
export interface Case {
  readonly name: string;
  /** The file's extension. */
  readonly container?: 'mkv' | 'mov' | 'mp4' | 'mts' | 'webm';
  readonly scene: SceneOptions;
  readonly voice?: VoiceName;
  readonly syncMode?: SyncMode;
  /**
   * The exact rate of the source's pictures where its container cannot say it; their own times in the container
   * otherwise.
   */
  readonly rate?: string;
  /** How the pictures of the source are decoded for the comparison: arguments before the input, filters behind it. */
  readonly reference?: { readonly input?: readonly string[]; readonly filters?: string };
  /** The PSNR outside the face that has to be reached, in dB; 50 when absent. */
  readonly psnrDb?: number;
}

export const DEFAULT_VOICE: VoiceName = 'WAV 48 kHz stereo';

const SECONDS = 2;
/** As many pictures as there are in that time. */
const long = (rate: string, seconds = SECONDS): SceneOptions => {
  const [num = 25, den = 1] = rate.split('/').map(Number);
  return { rate, pictures: Math.round((seconds * num) / den) };
};
const constant = (name: string, rate: string, seconds?: number): Case => ({
  name: `${name} fps`,
  scene: long(rate, seconds),
});

/** A telephone's pictures: 30 a second on average, each up to 12 ms late, and a pause of 0.4 s. */
const PHONE = '3003*N+mod(N*N*7,13)*90+36000*gte(N,20)';
const X265 = ['-c:v', 'libx265', '-preset', 'ultrafast', '-tag:v', 'hvc1'];
const x265 = (...params: string[]): string[] => [
  ...X265,
  ...['-x265-params', ['log-level=error', 'crf=8', 'keyint=48', 'repeat-headers=1', ...params].join(':')],
];
const tagged = (transfer: string): string =>
  `setparams=range=tv:color_primaries=bt2020:color_trc=${transfer}:colorspace=bt2020nc`;
const MASTERING = 'master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)';

const CODED = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '8', '-g', '24', '-bf', '2'];
type Flags = 'tff' | 'bff' | 'progressive';
const flagged = (flags: Flags): string[] =>
  flags === 'progressive' ? CODED : [...CODED, '-flags', '+ilme+ildct', '-x264-params', `${flags}=1`];
/** Two fields to a frame. */
const woven = (first: 'top' | 'bottom', flags: Flags) => (master: string) => [
  ...['-i', master, '-vf', `tinterlace=interleave_${first}`],
  ...flagged(flags),
];
const coded = (flags: Flags) => (master: string) => ['-i', master, ...flagged(flags)];
/** Its pictures flicker line by line, which costs an encoder two decibels. */
const deinterlaced = (parity: 'tff' | 'bff') => ({
  reference: { filters: `bwdif=mode=send_field:parity=${parity}:deint=all` },
  psnrDb: 47,
});

const RATES: readonly Case[] = [
  constant('1', '1', 4),
  constant('12', '12'),
  constant('23.976', '24000/1001'),
  constant('24', '24'),
  constant('25', '25'),
  constant('29.97', '30000/1001'),
  constant('30', '30'),
  constant('48', '48'),
  constant('50', '50'),
  constant('59.94', '60000/1001'),
  constant('60', '60'),
  constant('120', '120'),
  constant('240', '240', 1.5),
  {
    name: '29.97 fps in Matroska',
    container: 'mkv',
    scene: long('30000/1001'),
    rate: '30000/1001',
  },
  {
    name: '29.97 drop-frame, timecode, edit list, B-frames',
    container: 'mov',
    scene: {
      ...long('30000/1001', 3),
      encoder: ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '10', '-g', '90', '-bf', '3'],
      remake: (master) => ['-ss', '0.7', '-i', master, '-c', 'copy', '-timecode', '01:00:59;20'],
    },
  },
];

const CLOCKS: readonly Case[] = [
  { name: 'variable rate of a telephone', scene: { pictures: 60, rate: '30', times: PHONE } },
  {
    name: '30 fps, then 24 fps',
    scene: { pictures: 56, rate: '30', times: 'if(lt(N,32),3000*N,96000+3750*(N-32))' },
  },
  {
    name: 'first picture 0.5 s late',
    scene: {
      ...long('30'),
      remake: (master) => [
        ...['-itsoffset', '0.5', '-i', master, '-f', 'lavfi', '-t', '2.5', '-i', 'sine=440'],
        ...['-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'aac'],
      ],
    },
  },
];

const FIELDS: readonly Case[] = [
  {
    name: '50i, top field first',
    scene: { ...long('50'), isWoven: true, remake: woven('top', 'tff') },
    ...deinterlaced('tff'),
  },
  {
    name: '50i, bottom field first',
    scene: { ...long('50'), isWoven: true, remake: woven('bottom', 'bff') },
    ...deinterlaced('bff'),
  },
  {
    name: '59.94i, top field first',
    scene: { ...long('60000/1001'), isWoven: true, remake: woven('top', 'tff') },
    ...deinterlaced('tff'),
  },
  {
    name: '25p inside 50i',
    scene: { ...long('25'), remake: coded('tff') },
  },
  {
    name: '30p flagged interlaced',
    scene: { ...long('30'), remake: coded('bff') },
  },
  {
    name: '50i flagged progressive',
    scene: { ...long('50'), isWoven: true, remake: woven('top', 'progressive') },
    ...deinterlaced('tff'),
  },
  {
    name: '50i, MPEG-2 in MPEG-TS',
    container: 'mts',
    scene: {
      ...long('50'),
      isWoven: true,
      remake: (master) => [
        ...['-i', master, '-vf', 'tinterlace=interleave_top', '-c:v', 'mpeg2video', '-q:v', '2', '-bf', '2'],
        ...['-flags', '+ilme+ildct', '-top', '1'],
      ],
    },
    ...deinterlaced('tff'),
  },
];

const COLORS: readonly Case[] = [
  {
    name: 'HLG, 10 bits',
    scene: {
      ...long('25'),
      light: 'hlg',
      filters: tagged('arib-std-b67'),
      encoder: x265('colorprim=bt2020', 'transfer=arib-std-b67', 'colormatrix=bt2020nc'),
    },
  },
  {
    name: 'PQ with mastering display and MaxCLL',
    scene: {
      ...long('24000/1001'),
      light: 'pq',
      filters: tagged('smpte2084'),
      encoder: x265(
        ...['colorprim=bt2020', 'transfer=smpte2084', 'colormatrix=bt2020nc', 'hdr10=1'],
        ...[MASTERING, 'max-cll=1000,400'],
      ),
    },
  },
  {
    name: 'PQ without metadata',
    scene: {
      ...long('24'),
      light: 'pq',
      filters: tagged('smpte2084'),
      encoder: x265('colorprim=bt2020', 'transfer=smpte2084', 'colormatrix=bt2020nc'),
    },
  },
  { name: 'SDR, 10 bits', scene: { ...long('30'), light: 'sdr10', encoder: x265() } },
  {
    name: '4:2:2, 10 bits, ProRes',
    container: 'mov',
    scene: {
      ...long('25'),
      light: 'sdr10',
      filters: 'format=yuv422p10le,setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709',
      encoder: ['-c:v', 'prores_ks', '-profile:v', 'hq'],
    },
  },
  {
    name: '4:2:2, 10 bits, DNxHR with timecode',
    container: 'mov',
    scene: {
      ...long('24'),
      light: 'sdr10',
      filters: 'format=yuv422p10le,setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709',
      encoder: ['-c:v', 'dnxhd', '-profile:v', 'dnxhr_hqx', '-timecode', '10:00:00:00'],
    },
  },
  {
    name: '4:4:4, 853x479',
    scene: { ...long('25'), width: 854, height: 480, filters: 'format=yuv444p,crop=853:479:0:0:exact=1' },
  },
  {
    name: 'full-range BT.601',
    scene: {
      ...long('30'),
      filters:
        'scale=out_range=full,format=yuv420p,setparams=range=pc:color_primaries=smpte170m:color_trc=smpte170m:colorspace=smpte170m',
    },
  },
  {
    name: 'VP9 with alpha',
    container: 'webm',
    scene: {
      ...long('25'),
      filters:
        "null[opaque];nullsrc=s=640x360,format=gray,geq=lum='255*(lt(Y,16)+gt(Y,327)+between(X,160,480))'," +
        'trim=end_frame=1,loop=-1:1:0[alpha];[opaque][alpha]alphamerge=shortest=1,format=yuva420p',
      encoder: [
        ...['-c:v', 'libvpx-vp9', '-auto-alt-ref', '0', '-deadline', 'realtime', '-cpu-used', '8'],
        ...['-b:v', '0', '-crf', '10'],
      ],
    },
    reference: {
      input: ['-c:v', 'libvpx-vp9'],
      filters: 'split[black][over];[black]format=yuv420p,drawbox=c=black:t=fill[black];[black][over]overlay',
    },
  },
  { name: 'turned by 90°', scene: { ...long('30'), filters: 'transpose=cclock', turned: 90 } },
  { name: 'anamorphic 4:3', scene: { ...long('25'), filters: 'setsar=4/3' } },
];

const SOUNDS: readonly Case[] = (Object.keys(VOICES) as VoiceName[])
  .filter((voice) => voice !== DEFAULT_VOICE)
  .map((voice) => ({ name: voice, scene: long('30'), voice }));

const MODES: readonly Case[] = (['loop', 'bounce', 'silence', 'remap'] as const).flatMap((syncMode) =>
  [
    { name: '30 fps', scene: long('30', 1.5) },
    { name: '60 fps', scene: long('60', 1.5) },
    { name: 'variable rate', scene: { pictures: 42, rate: '30', times: PHONE } },
  ].map(({ name, scene }) => ({ name: `${syncMode}, ${name}`, scene, syncMode })),
);

const LARGE: readonly Case[] = [
  { name: '1080p59.94', scene: { ...long('60000/1001', 1), width: 1920, height: 1080 } },
  { name: '4K60', scene: { ...long('60', 1), width: 3840, height: 2160 } },
];

export const CASES: readonly Case[] = [
  ...RATES,
  ...CLOCKS,
  ...FIELDS,
  ...COLORS,
  ...SOUNDS,
  ...MODES,
  ...LARGE,
];

/** A case of this name with fewer pictures, for tests that have little time. */
export function shortened(name: string, pictures: number): Case {
  const found = CASES.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no case is named ${name}`);
  return { ...found, scene: { ...found.scene, pictures } };
}
