import { type RgbPicture } from '@lipsync/kernels';
import { drawnTrack, upTo } from '../test/clips';
import { paintedLandmarks } from '../test/painted-landmarks';
import { type FaceTrack } from './face-track';
import { groupLooks, type LookColors, lookColors } from './looks';

type Color = readonly [number, number, number];

interface Look {
  readonly lips: Color;
  readonly skin: Color;
}

const RED: Look = { lips: [190, 60, 60], skin: [225, 180, 155] };
const PALE: Look = { lips: [175, 125, 110], skin: [225, 180, 155] };
const ROSY: Look = { lips: [178, 85, 80], skin: [225, 180, 155] };
const DARK: Look = { lips: [95, 60, 55], skin: [110, 75, 60] };
const BLUISH: Look = { lips: [120, 70, 120], skin: [150, 140, 200] };
const GREENISH: Look = { lips: [130, 110, 60], skin: [150, 190, 130] };

const SIDE = 64;
const face = paintedLandmarks({ side: SIDE, x: 32, y: 42, half: 10 }, 2);
const track = (frames: number, cuts: readonly number[]): FaceTrack =>
  drawnTrack(
    upTo(frames).map(() => face),
    { width: SIDE, height: SIDE },
    cuts,
  );

/** A face of one skin, and lips as wide as its mouth. */
function pictureOf({ lips, skin }: Look): RgbPicture {
  const data = new Uint8Array(SIDE * SIDE * 3);
  for (let at = 0; at < data.length; at += 3) {
    const [x, y] = [(at / 3) % SIDE, Math.floor(at / 3 / SIDE)];
    data.set(Math.abs(x - 32) < 10 && Math.abs(y - 42) < 5 ? lips : skin, at);
  }
  return { width: SIDE, height: SIDE, data };
}

/** The colors of frames that show these looks, with the noise of moving heads. */
function colorsOf(shown: readonly Look[]): LookColors[] {
  const measured = new Map([...new Set(shown)].map((look) => [look, lookColors(pictureOf(look), face)]));
  return shown.map((look, frame) =>
    (measured.get(look) ?? []).map((value, i) => value + 4 * Math.sin(frame * (i + 2))),
  );
}

/** A clip of shots, each with the number of its frames, and its looks. */
function grouped(...shots: readonly (readonly [Look, number])[]) {
  const shown = shots.flatMap(([look, frames]) => upTo(frames).map(() => look));
  let start = 0;
  const starts = shots.map(([, frames]) => (start += frames) - frames);
  const grouping = groupLooks(track(shown.length, starts), colorsOf(shown));
  return { ofShots: starts.map((first) => grouping.looks[first]), seen: seenWithEach(grouping) };
}

/** For each look the frames in which it was seen. */
function seenWithEach({ looks, seen }: ReturnType<typeof groupLooks>): number[][] {
  const frames = [...seen.keys()].filter((frame) => seen[frame] === 1);
  const last = Math.max(-1, ...frames.map((frame) => looks[frame] ?? 0));
  return upTo(last + 1).map((look) => frames.filter((frame) => looks[frame] === look));
}

const range = (from: number, to: number): number[] => upTo(to).slice(from);

test('two people of one shot, alike as they are, have looks of their own, each the same in all turns', () => {
  const shown = upTo(200).map(() => RED);
  const speaker = (frame: number): number => Math.floor(frame / 50) % 2;
  const areApart = (frame: number, other: number): boolean => speaker(frame) !== speaker(other);
  const { looks, seen } = groupLooks(track(200, [0, 50, 100, 150]), colorsOf(shown), areApart);
  expect([...looks]).toEqual(upTo(200).map(speaker));
  expect(seen).toEqual(new Uint8Array(200).fill(1));
});

test('whoever is seen too briefly for pictures does not wear those of another person in the shot', () => {
  const areApart = (frame: number, other: number): boolean => frame >= 180 !== other >= 180;
  const { looks, seen } = groupLooks(track(200, [0, 180]), colorsOf(upTo(200).map(() => RED)), areApart);
  expect([looks[179], looks[180], looks[199]]).toEqual([0, 1, 1]);
  expect([seen[179], seen[180]]).toEqual([1, 0]);
});

test('the colors of a face are those of its lips and its skin', () => {
  // As OpenCV converts sRGB to L*a*b*.
  const skin = [76.6, 12.7, 18.9];
  const expected: [Look, number[]][] = [
    [RED, [44.9, 51.8, 29.8, ...skin]],
    [PALE, [56.8, 17.6, 15.9, ...skin]],
  ];
  for (const [look, lab] of expected) {
    const colors = lookColors(pictureOf(look), face);
    expect(colors).toHaveLength(lab.length);
    colors.forEach((value, i) => expect(Math.abs(value - (lab[i] ?? NaN))).toBeLessThan(0.3));
  }
});

test('a face beyond the border of the picture has the colors at the border', () => {
  const beyond = face.map((value) => value + 200);
  const corner = lookColors(pictureOf(RED), beyond);
  expect(corner.slice(0, 3)).toEqual(corner.slice(3));
});

test('one person in one light has one look, however often the clip is cut', () => {
  const { ofShots, seen } = grouped([RED, 90], [RED, 12], [RED, 40], [RED, 3]);
  expect(ofShots).toEqual([0, 0, 0, 0]);
  expect(seen).toEqual([upTo(145)]);
});

test('two people each have their own, whatever the order of their shots', () => {
  const { ofShots, seen } = grouped([PALE, 30], [RED, 100], [PALE, 60]);
  expect(ofShots).toEqual([1, 0, 1]);
  expect(seen).toEqual([range(30, 130), [...upTo(30), ...range(130, 190)]]);
});

test('one person in clearly other light has two', () => {
  const dimmed: Look = { lips: [95, 30, 30], skin: [112, 90, 78] };
  expect(grouped([RED, 80], [dimmed, 80]).ofShots).toEqual([0, 1]);
  const nearby: Look = { lips: [175, 55, 55], skin: [207, 166, 143] };
  expect(grouped([RED, 80], [nearby, 80]).ofShots).toEqual([0, 0]);
});

test('many short shots of two people make two looks', () => {
  const shots = upTo(300).map((i) => [i % 2 === 0 ? RED : PALE, 10] as const);
  const { ofShots, seen } = grouped(...shots);
  expect(ofShots).toEqual(upTo(300).map((i) => i % 2));
  expect(seen.map(({ length }) => length)).toEqual([1500, 1500]);
});

test('who is seen for less than a second wears the most similar mouth, and gives none', () => {
  const { ofShots, seen } = grouped([DARK, 80], [ROSY, 24], [RED, 60]);
  expect(ofShots).toEqual([0, 1, 1]);
  expect(seen).toEqual([upTo(80), range(104, 164)]);
});

test('of more looks than four the longest are kept', () => {
  const { ofShots, seen } = grouped([RED, 100], [ROSY, 60], [DARK, 90], [BLUISH, 80], [GREENISH, 70]);
  expect(ofShots).toEqual([0, 0, 1, 2, 3]);
  expect(seen.map(({ length }) => length)).toEqual([100, 90, 80, 70]);
});

test('a clip that lasts less than a second has its one look', () => {
  expect(grouped([PALE, 5]).seen).toEqual([upTo(5)]);
});

test('frames whose face was not seen say nothing, and a shot of them continues the look before', () => {
  const shown = [...upTo(40).map(() => PALE), ...upTo(20).map(() => BLUISH), ...upTo(90).map(() => RED)];
  const colors = colorsOf(shown).map((color, frame) =>
    shown[frame] !== BLUISH && frame % 10 !== 0 ? color : null,
  );
  const grouping = groupLooks(track(150, [0, 40, 60]), colors);
  expect([0, 40, 60].map((frame) => grouping.looks[frame])).toEqual([1, 1, 0]);
  expect(seenWithEach(grouping)).toEqual([
    range(60, 150).filter((frame) => frame % 10 !== 0),
    upTo(40).filter((frame) => frame % 10 !== 0),
  ]);
  const nothing = new Uint8Array(4);
  expect(groupLooks(track(4, [0]), [null, null, null, null])).toEqual({ looks: nothing, seen: nothing });
});
