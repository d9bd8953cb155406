import { tmpdir } from 'node:os';
import { type Binaries } from '../ffmpeg/binaries';
import { runToEnd } from '../ffmpeg/media-child';
import { frameColor, isFullRange, transferOf, type VideoStream } from '../probe/stream-info';

/** Light as bright as white paper, in cd/m² (ITU-R BT.2408): SDR's white. */
const REFERENCE_WHITE = 203;
/** Where the light of a file that does not say it ends, in cd/m². */
const USUAL_PEAK = 1000;
/** Share of SDR's white up to which light is shown as it is; what is brighter shares the rest. */
const SHOULDER = 0.6;

/**
 * Turns pictures of an HDR video into SDR of 8 bits in BT.709, as `outputFormat` says. Slow, since light is computed in
 * floating point: some 100 ms for a picture of 1080p on one processor.
 */
export function toneMapped(video: VideoStream): string[] {
  const { color, hdr } = video;
  const { matrix = 'bt2020nc', primaries = 'bt2020' } = frameColor(video);
  const mastered = (hdr.masteringDisplay?.luminance.max ?? 0) / 10_000;
  const peak = Math.max(hdr.contentLight?.maxCll ?? 0, 0) || mastered || USUAL_PEAK;
  const source = `min=${matrix}:pin=${primaries}:tin=${color.transfer}:rin=${isFullRange(video) ? 'pc' : 'tv'}`;
  return [
    `zscale=${source}:p=bt709:t=linear:npl=${REFERENCE_WHITE}`,
    'format=gbrpf32le',
    `tonemap=mobius:param=${SHOULDER}:desat=0:peak=${Math.max(1, peak / REFERENCE_WHITE).toFixed(3)}`,
    'zscale=t=bt709:m=bt709:r=tv',
    'format=yuv420p',
  ];
}

/** @throws Error when this ffmpeg cannot turn HDR into SDR; asked at startup, so that no customer's video finds out. */
export async function requireToneMapping(binaries: Binaries): Promise<void> {
  for (const filter of ['zscale', 'tonemap']) {
    const command = [binaries.ffmpeg, '-hide_banner', '-h', `filter=${filter}`] as const;
    const options = { folder: tmpdir(), deadlineMs: HELP_DEADLINE_MS };
    const { stdout } = await runToEnd(binaries, [...command], options, MOST_HELP);
    if (!stdout.toString('latin1').startsWith(`Filter ${filter}`))
      throw new Error(`${binaries.ffmpeg} cannot turn HDR into SDR: it lacks the filter ${filter} (libzimg)`);
  }
}

const HELP_DEADLINE_MS = 20_000;
const MOST_HELP = 64 * 1024;

/**
 * Turns packed RGB with the curve of an HDR video into what networks know from SDR, roughly: by channel, in the source's
 * primaries. It is a table, and so costs next to nothing.
 */
export function likeSdr(video: VideoStream): string[] {
  const transfer = transferOf(video);
  if (transfer === 'sdr') return [];
  const light = `(${transfer === 'pq' ? PQ_LIGHT : HLG_LIGHT})/${REFERENCE_WHITE}`;
  const rolled = `if(lte(ld(1)\\,${SHOULDER})\\,ld(1)\\,1-(1-${SHOULDER})*exp((${SHOULDER}-ld(1))/(1-${SHOULDER})))`;
  const level = `st(0\\,min(val/maxval\\,1))*0+st(1\\,${light})*0+maxval*pow(${rolled}\\,1/2.2)`;
  return [`lutrgb=r=${level}:g=${level}:b=${level}`];
}

/** Light in cd/m² of a signal from 0 to 1 in variable 0: SMPTE ST 2084. */
const PQ_LIGHT =
  'st(2\\,pow(ld(0)\\,32/2523))*0+10000*pow(max(ld(2)-107/128\\,0)/(2413/128-2392/128*ld(2))\\,8192/1305)';
/** Likewise, on a display of 1000 cd/m²: ARIB STD-B67. */
const HLG_LIGHT =
  '1000*pow(if(lte(ld(0)\\,0.5)\\,ld(0)*ld(0)/3\\,(exp((ld(0)-0.55991073)/0.17883277)+0.28466892)/12)\\,1.2)';

/**
 * Composes pictures with transparent parts on black, at the size in which they are stored. Samples that are opaque
 * throughout stay as they are: for that, color at half the resolution is repeated here, and has to be thinned out
 * likewise by the scaler that comes next (`SCALING`).
 */
export function onBlack(video: VideoStream, size: string): string[] {
  if (!video.alpha) return [];
  const planes = video.pixFmt.startsWith('yuv') ? 'yuva444p' : 'gbrap';
  const format = video.depth === 10 ? `${planes}10le` : planes;
  return [`scale=${size}:flags=${scaling(video)}`, `format=${format}`, 'premultiply=inplace=1'];
}

/** How pictures are scaled to the size that they mostly have: most are not scaled, but of another pixel format. */
export function scaling({ alpha, pixFmt }: VideoStream): 'neighbor' | 'bicubic' {
  return alpha && pixFmt.startsWith('yuv') && pixFmt.includes('420') ? 'neighbor' : 'bicubic';
}
