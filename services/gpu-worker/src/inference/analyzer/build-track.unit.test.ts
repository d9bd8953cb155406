import { buildTrack, LOOK_AHEAD_FRAMES } from './build-track';
import { fillGaps } from './fill-gaps';

const face = (x: number): Float32Array =>
  Float32Array.from({ length: 136 }, (_, i) => (i % 2 === 0 ? x + i : 100 + i));

describe('buildTrack', () => {
  const source = { width: 1000, height: 1000 };
  const jittering = Array.from({ length: 40 }, (_, i) => face(300 + (i % 2 === 0 ? 3 : -3)));

  test('the box is steadied, the mouth stays as measured', () => {
    const track = buildTrack({ analyzerVersion: 'v', source, faces: jittering, cuts: [true] });
    const lefts = Array.from(
      { length: 39 },
      (_, i) => (track.boxes[i * 4 + 4] ?? 0) - (track.boxes[i * 4] ?? 0),
    );
    expect(Math.max(...lefts.map(Math.abs))).toBeLessThan(1.5);
    for (let frame = 0; frame < 40; frame++) {
      const mouth = track.landmarks.slice(frame * 136 + 96, frame * 136 + 136);
      expect(mouth).toEqual(jittering[frame]?.slice(96));
    }
  });

  test('the box stays inside the picture', () => {
    const track = buildTrack({
      analyzerVersion: 'v',
      source: { width: 360, height: 230 },
      faces: jittering,
      cuts: [],
    });
    expect(Math.max(...track.boxes)).toBe(360);
    expect(track.boxes[3]).toBe(230);
  });

  test('the start of a video has the same track, whether all of it or only the frames ahead were looked at', () => {
    const wanted = 30;
    // From the last frame that reaches the smoothing of the wanted ones on, the face is hidden until just in time.
    const hidden = (frame: number): boolean =>
      frame >= wanted + LOOK_AHEAD_FRAMES - 6 && frame < wanted + LOOK_AHEAD_FRAMES - 1;
    const breathing = (frame: number): Float32Array => face(300).map((v) => v * (1 + ((frame * 7) % 5) / 50));
    const startOf = (frames: number): Float32Array => {
      const faces = Array.from({ length: frames }, (_, i) => (hidden(i) ? null : breathing(i)));
      fillGaps(faces, []);
      return buildTrack({ analyzerVersion: 'v', source, faces, cuts: [] }).boxes.slice(0, wanted * 4);
    };
    const whole = startOf(200);
    expect(startOf(wanted + LOOK_AHEAD_FRAMES)).toEqual(whole);
    expect(startOf(wanted + LOOK_AHEAD_FRAMES - 1)).not.toEqual(whole);
  });

  test('a video without frames has an empty track', () => {
    const track = buildTrack({ analyzerVersion: 'v', source, faces: [], cuts: [] });
    expect([track.frames, track.boxes.length, track.found.length]).toEqual([0, 0, 0]);
  });
});
