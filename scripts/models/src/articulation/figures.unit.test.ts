import { constantClock, framesOf, middleOf } from '@lipsync/domain';
import { mean } from '@lipsync/local-stack';
import {
  closures,
  dentals,
  falseClosures,
  falseDentals,
  leadOf,
  meanDuring,
  openings,
  scaleOf,
  silent,
  speaking,
  type SpokenClip,
  touches,
} from './figures';
import { type MouthReading, type MouthShape, readMouth, timed } from './mouth-readings';
import { firstAxisShare, openingSpeed, ownAmplitude, widthRange } from './movement';
import { gestureOf, jawCourse } from './phonemes';
import { type Sound } from './speech';

/** Ten sounds a second after a silence of one second, and another at the end. */
const SOUNDS: Sound[] = [...'mamifubapuvitapikufamobitupaganifipu'].map((ipa, i) => ({
  ipa,
  start: 1 + i / 10,
  end: 1.1 + i / 10,
}));
const SECONDS = 5.6;

interface Lips {
  readonly gap: number;
  readonly width: number;
  /** How far the lower lip is raised above where the gap puts it, and the upper lip with it. */
  readonly raised: number;
}

/** The landmarks of a drawn face in eye distances, turned, enlarged and moved. */
function landmarksOf(
  { gap, width, raised }: Lips,
  pose = { angle: 0, scale: 100, x: 300, y: 200 },
): Float32Array {
  const points = Array.from({ length: 68 }, () => ({ x: 0, y: 0 }));
  const set = (first: number, places: readonly (readonly [number, number])[]): void =>
    places.forEach(([x, y], i) => (points[first + i] = { x, y }));
  for (let i = 0; i < 6; i++) {
    points[36 + i] = { x: -0.5, y: 0 };
    points[42 + i] = { x: 0.5, y: 0 };
  }
  for (let i = 0; i < 5; i++) points[31 + i] = { x: (i - 2) / 10, y: 0.7 };
  const [top, bottom, half] = [1.1 - raised, 1.1 + gap - raised, width / 2];
  const arc = (from: number, to: number, y: number, bow: number, count: number) =>
    Array.from({ length: count }, (_, i) => {
      const t = (i + 1) / (count + 1);
      return [from + (to - from) * t, y + bow * Math.sin(Math.PI * t)] as const;
    });
  const middle = (top + bottom) / 2;
  set(48, [
    [-half, middle],
    ...arc(-half, half, top, -0.1, 5),
    [half, middle],
    ...arc(half, -half, bottom, 0.12, 5),
  ]);
  const inner = 0.8 * half;
  set(60, [
    [-inner, middle],
    ...arc(-inner, inner, top, 0, 3),
    [inner, middle],
    ...arc(inner, -inner, bottom, 0, 3),
  ]);
  const [cos, sin] = [Math.cos(pose.angle) * pose.scale, Math.sin(pose.angle) * pose.scale];
  return Float32Array.from(
    points.flatMap(({ x, y }) => [pose.x + cos * x - sin * y, pose.y + sin * x + cos * y]),
  );
}

const shape = (lips: Lips): MouthShape => {
  const read = readMouth(landmarksOf(lips));
  if (read === null) throw new Error('a drawn face has two eyes');
  return read;
};

/** A mouth that has these lips at a time, in the middle of each frame. */
function mouthOf(lipsAt: (second: number) => Lips, rate = 25): (MouthReading | null)[] {
  const clock = constantClock({ num: rate, den: 1 }, Math.floor(SECONDS * rate));
  const shapes = Array.from({ length: framesOf(clock) }, (_, frame) => shape(lipsAt(middleOf(clock, frame))));
  return timed(shapes, clock);
}

const CLOSED: Lips = { gap: 0.02, width: 0.8, raised: 0 };
const still = mouthOf(() => CLOSED);

/** How much of a sound's gesture there is at a time: rises and falls within 60 ms. */
const during = (gestures: readonly string[], at: number): number =>
  Math.max(
    0,
    ...SOUNDS.filter((sound) => gestures.includes(gestureOf(sound) ?? '')).map(({ start, end }) =>
      Math.min(1, (0.08 - Math.abs(at - (start + end) / 2)) / 0.04),
    ),
  );

/** A mouth that does what the sounds need, `lead` seconds before they are heard. */
function articulating(lead: number, rate = 25): SpokenClip {
  const jaw = jawCourse(SOUNDS);
  const mouth = mouthOf((time) => {
    const at = time + lead;
    const dental = during(['dental'], at);
    const apart = at > 0.95 && at < 1.05 + SOUNDS.length / 10 ? 0.03 : 0;
    return {
      gap: CLOSED.gap + (apart + 0.15 * jaw(at)) * (1 - during(['closure'], at)) + 0.01 * dental,
      width: CLOSED.width + 0.08 * during(['i'], at) - 0.12 * during(['u'], at),
      raised: 0.03 * dental,
    };
  }, rate);
  return { sounds: SOUNDS, mouth, source: still };
}

/** How loud each sound is; a puppet opens by nothing else. */
const LOUDNESS: Readonly<Record<string, number>> = { a: 1, i: 0.7, u: 0.7, o: 0.9, m: 0.5, n: 0.5, v: 0.3 };
function puppet(rate = 25): SpokenClip {
  const mouth = mouthOf((time) => {
    const loudness = SOUNDS.reduce((sum, { ipa, start, end }) => {
      const weight = Math.max(0, 1 - Math.abs(time - (start + end) / 2) / 0.1);
      return sum + weight * (LOUDNESS[ipa] ?? 0);
    }, 0);
    return { ...CLOSED, gap: CLOSED.gap + 0.2 * loudness };
  }, rate);
  return { sounds: SOUNDS, mouth, source: still };
}

const shareOf = ({ cases, done }: { cases: number; done: number }): number => done / cases;
const widthOver = (clip: SpokenClip): number =>
  meanDuring(clip, 'i', ({ width }) => width) / meanDuring(clip, 'u', ({ width }) => width);

test('a reading does not depend on where the face is, how large, or how it is turned', () => {
  const lips = { gap: 0.13, width: 0.7, raised: 0.02 };
  const upright = shape(lips);
  const turned = readMouth(landmarksOf(lips, { angle: 0.6, scale: 37, x: 900, y: -40 }));
  expect(upright.opening).toBeCloseTo(0.13);
  expect(upright.width).toBeCloseTo(0.7);
  expect(
    turned?.points.map((value, i) => value - (upright.points[i] ?? 0)).every((x) => Math.abs(x) < 1e-4),
  ).toBe(true);
  expect(turned?.lowerLip).toBeCloseTo(upright.lowerLip);
});

test.each([24, 25, 30, 60])(
  'at %i frames a second a mouth that does what the sounds need is told from one that opens by loudness',
  (rate) => {
    const [speech, loud] = [articulating(0.04, rate), puppet(rate)];
    const [of, by] = [scaleOf(speech), scaleOf(loud)];

    expect(shareOf(closures(speech, of))).toBe(1);
    expect(shareOf(falseClosures(speech, of))).toBeLessThan(0.05);
    expect(shareOf(dentals(speech, of))).toBe(1);
    expect(shareOf(falseDentals(speech, of))).toBeLessThan(0.1);
    expect(widthOver(speech)).toBeGreaterThan(1.15);
    expect(firstAxisShare(speaking(speech.mouth, SOUNDS))).toBeLessThan(0.9);
    expect(widthRange(speaking(speech.mouth, SOUNDS))).toBeGreaterThan(0.1);

    expect(shareOf(closures(loud, by))).toBeLessThan(0.8);
    expect(shareOf(falseClosures(loud, by))).toBeGreaterThan(0.2);
    expect(shareOf(dentals(loud, by))).toBe(0);
    expect(widthOver(loud)).toBeCloseTo(1);
    expect(firstAxisShare(speaking(loud.mouth, SOUNDS))).toBeGreaterThan(0.99);
    expect(widthRange(speaking(loud.mouth, SOUNDS))).toBeLessThan(0.01);
  },
);

test('a mouth that never opens closes nothing: its vowels are closed, too', () => {
  const shut = { sounds: SOUNDS, mouth: still, source: still };
  expect(shareOf(falseClosures(shut, scaleOf(shut)))).toBe(1);
});

test.each([-0.08, 0, 0.04, 0.08])('a mouth that is %f s ahead of the sound is found to be', (lead) => {
  const clip = articulating(lead);
  expect(Math.abs((leadOf(clip) ?? NaN) - lead)).toBeLessThan(0.015);
});

test('a mouth that does not follow the sounds is neither ahead of them nor behind', () => {
  const mouth = mouthOf((time) => ({ ...CLOSED, gap: 0.1 + 0.05 * Math.sin(40 * time) }));
  expect(leadOf({ sounds: SOUNDS, mouth, source: still })).toBeNull();
});

test('speed, amplitude and what moves in silence are those of the readings', () => {
  // Half an eye distance a second, up and down for 0.4 s each.
  const waving = (time: number): Lips => ({ ...CLOSED, gap: 0.5 * Math.abs(0.4 - (time % 0.8)) });
  const wave = mouthOf(waving);
  for (const rate of [25, 30, 60]) expect(openingSpeed(mouthOf(waving, rate))).toBeCloseTo(0.5, 1);
  expect(ownAmplitude(wave)).toBeGreaterThan(0.17);
  expect(ownAmplitude(still)).toBeNull();

  const quiet = openings(silent(wave, SOUNDS));
  expect(quiet.length).toBeGreaterThan(30);
  expect(quiet.length).toBeLessThan(50);
  expect(mean(quiet)).toBeGreaterThan(0.05);
  expect(openingSpeed(silent(still, SOUNDS))).toBeCloseTo(0);
});

test('an m, b or p touches if any of its frames does, and is not judged if none of them can be seen', () => {
  const sounds = [...'ma'].map((ipa, i) => ({ ipa, start: i * 0.2, end: (i + 1) * 0.2 }));
  const clip = { sounds, mouth: still, source: still };
  const contacts = (touching: (frame: number) => boolean | null) => still.map((_, frame) => touching(frame));
  expect(
    touches(
      clip,
      contacts((frame) => frame === 2),
    ),
  ).toEqual({ cases: 1, done: 1 });
  expect(
    touches(
      clip,
      contacts((frame) => frame > 7),
    ),
  ).toEqual({ cases: 1, done: 0 });
  expect(
    touches(
      clip,
      contacts((frame) => (frame > 7 ? true : null)),
    ),
  ).toEqual({ cases: 0, done: 0 });
});
