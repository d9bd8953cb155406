import { type SyncMode } from '@lipsync/contract';
import { constantClock, endOf, framesOf, secondsAt, type Timeline, timelineOf } from '@lipsync/domain';

/** Units of the drawing. */
const WIDTH = 640;
const LEFT = 64;
const PER_SECOND = 54;
const VIDEO_TOP = 12;
const VIDEO_HEIGHT = 52;
const VOICE_TOP = 78;
const VOICE_HEIGHT = 26;
const HEIGHT = 140;
/** Enough frames for straight lines. */
const RATE = { num: 25, den: 1 };

/**
 * A sync mode as a drawing, from the service's own timeline: over the time of the output, which moment of the video is
 * shown (a line from its first frame, below, to its last, above), and what is heard. What is left out is dotted.
 */
export function syncModePicture(mode: SyncMode, videoSeconds: number, voiceSeconds: number): string {
  const video = constantClock(RATE, (videoSeconds * RATE.num) / RATE.den);
  const timeline = timelineOf(mode, video, voiceSeconds);
  const outputSeconds = endOf(timeline.clock);
  const heard = Math.min(voiceSeconds, outputSeconds);
  const label = `${videoSeconds} s of video and ${voiceSeconds} s of voice give ${outputSeconds} s`;
  return [
    `<svg class="timeline" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${mode}: ${label}">`,
    text(0, VIDEO_TOP + VIDEO_HEIGHT / 2 + 4, 'video'),
    text(0, VOICE_TOP + VOICE_HEIGHT / 2 + 4, 'voice'),
    block('picture', 0, outputSeconds, VIDEO_TOP, VIDEO_HEIGHT),
    `<polyline class="shown" points="${shownLine(mode, timeline, framesOf(video) - 1)}"/>`,
    block('voice', 0, heard, VOICE_TOP, VOICE_HEIGHT),
    voiceLine(heard),
    ...(heard < outputSeconds ? [block('silence', heard, outputSeconds, VOICE_TOP, VOICE_HEIGHT)] : []),
    ...(isUnused(mode, videoSeconds, outputSeconds)
      ? [block('unused', outputSeconds, videoSeconds, VIDEO_TOP, VIDEO_HEIGHT)]
      : []),
    ...(heard < voiceSeconds ? [block('unused', heard, voiceSeconds, VOICE_TOP, VOICE_HEIGHT)] : []),
    ...ticks(Math.max(videoSeconds, voiceSeconds)),
    `<line class="end" x1="${x(outputSeconds)}" x2="${x(outputSeconds)}" y1="4" y2="${VOICE_TOP + VOICE_HEIGHT + 6}"/>`,
    '</svg>',
  ].join('');
}

/** Remap shows the whole video, faster. */
function isUnused(mode: SyncMode, videoSeconds: number, outputSeconds: number): boolean {
  return mode !== 'remap' && videoSeconds > outputSeconds;
}

const x = (seconds: number): number => Math.round((LEFT + seconds * PER_SECOND) * 10) / 10;

const text = (left: number, baseline: number, words: string): string =>
  `<text x="${left}" y="${baseline}">${words}</text>`;

const block = (name: string, from: number, to: number, top: number, height: number): string =>
  `<rect class="${name}" x="${x(from)}" y="${top}" width="${Math.round((to - from) * PER_SECOND * 10) / 10}" height="${height}" rx="4"/>`;

/** The corners of the line: a frame between two that go on in the same direction adds nothing to it. */
function shownLine(mode: SyncMode, { sources: shown, clock }: Timeline, last: number): string {
  const step = (index: number): number => Math.sign((shown[index] ?? NaN) - (shown[index - 1] ?? NaN));
  return shown
    .flatMap((frame, index) => {
      const isCorner = step(index) !== step(index + 1) || Math.abs((shown[index + 1] ?? frame) - frame) > 9;
      if (!isCorner && !(mode === 'loop' && frame === 0)) return [];
      const height = (VIDEO_HEIGHT - 12) * (frame / last);
      return [
        `${x(secondsAt(clock, index))},${Math.round((VIDEO_TOP + VIDEO_HEIGHT - 6 - height) * 10) / 10}`,
      ];
    })
    .join(' ');
}

/** A voice with words and pauses, the same in every picture. */
function voiceLine(seconds: number): string {
  const middle = VOICE_TOP + VOICE_HEIGHT / 2;
  const bars: string[] = [];
  for (let at = 0.08; at < seconds - 0.04; at += 0.1) {
    const loudness = Math.abs(Math.sin(at * 5.1) * Math.sin(at * 1.7 + 0.4));
    const half = Math.round((1 + 9 * loudness) * 10) / 10;
    bars.push(`M${x(at)} ${middle - half}V${middle + half}`);
  }
  return `<path class="sound" d="${bars.join('')}"/>`;
}

function ticks(seconds: number): string[] {
  const top = VOICE_TOP + VOICE_HEIGHT + 8;
  return Array.from({ length: Math.floor(seconds / 2) + 1 }, (_, i) =>
    [
      `<line class="tick" x1="${x(2 * i)}" x2="${x(2 * i)}" y1="${top}" y2="${top + 4}"/>`,
      `<text class="seconds" x="${x(2 * i)}" y="${top + 18}">${2 * i} s</text>`,
    ].join(''),
  );
}
