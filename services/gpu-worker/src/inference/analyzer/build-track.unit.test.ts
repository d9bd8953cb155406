import { buildTrack, LOOK_AHEAD_FRAMES } from './build-track';
import { fillGaps } from './fill-gaps';
import { type FaceTrack, musetalkBoxes } from '@lipsync/engines';

const face = (x: number): Float32Array =>
  Float32Array.from({ length: 136 }, (_, i) => (i % 2 === 0 ? x + i : 100 + i));

describe('buildTrack', () => {
  const source = { width: 1000, height: 1000 };
  const jittering = Array.from({ length: 40 }, (_, i) => face(300 + (i % 2 === 0 ? 3 : -3)));

  test('the outline is steadied, the mouth stays as measured', () => {
    const track = buildTrack({ analyzerVersion: 'v', source, faces: jittering, cuts: [true] });
    const steps = Array.from({ length: 39 }, (_, i) =>
      Math.abs((track.landmarks[(i + 1) * 136] ?? 0) - (track.landmarks[i * 136] ?? 0)),
    );
    expect(Math.max(...steps)).toBeLessThan(3);
    for (let frame = 0; frame < 40; frame++) {
      const mouth = track.landmarks.slice(frame * 136 + 96, frame * 136 + 136);
      expect(mouth).toEqual(jittering[frame]?.slice(96));
    }
  });

  test('a face that has left the picture is no face', () => {
    const faces = [face(900), face(1000), face(-137), face(-100)];
    const track = buildTrack({ analyzerVersion: 'v', source, faces, cuts: [] });
    expect([...track.found]).toEqual([1, 0, 0, 1]);
    expect(track.landmarks.slice(136, 3 * 136).every((value) => value === 0)).toBe(true);
  });

  test('the start of a video gives the same crops, whether all of it or only the frames ahead were looked at', () => {
    const wanted = 30;
    // A gap that begins where the widest smoothing of the wanted frames ends, and closes just in time.
    const hidden = (frame: number): boolean =>
      frame >= wanted + LOOK_AHEAD_FRAMES - 6 && frame < wanted + LOOK_AHEAD_FRAMES - 1;
    const breathing = (frame: number): Float32Array => face(300).map((v) => v * (1 + ((frame * 7) % 5) / 50));
    const trackOf = (frames: number): FaceTrack => {
      const faces = Array.from({ length: frames }, (_, i) => (hidden(i) ? null : breathing(i)));
      fillGaps(faces, []);
      return buildTrack({ analyzerVersion: 'v', source, faces, cuts: [] });
    };
    const cropsOf = (track: FaceTrack): Float32Array =>
      musetalkBoxes(track, { shift: 0, margin: 10 }).slice(0, wanted * 4);
    const whole = trackOf(200);
    const part = trackOf(wanted + LOOK_AHEAD_FRAMES);
    expect(cropsOf(part)).toEqual(cropsOf(whole));

    // Engines may look further than MuseTalk does: the rows within their reach also match those of the whole video.
    const reached = (wanted + LOOK_AHEAD_FRAMES - 10) * 136;
    expect(part.landmarks.slice(0, reached)).toEqual(whole.landmarks.slice(0, reached));
    const short = trackOf(wanted + LOOK_AHEAD_FRAMES - 1);
    expect(short.landmarks.slice(0, reached)).not.toEqual(whole.landmarks.slice(0, reached));
  });

  test('a video without frames has an empty track', () => {
    const track = buildTrack({ analyzerVersion: 'v', source, faces: [], cuts: [] });
    expect([track.frames, track.landmarks.length, track.found.length]).toEqual([0, 0, 0]);
  });
});
