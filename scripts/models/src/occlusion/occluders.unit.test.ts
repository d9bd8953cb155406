import { CLIP_SECONDS, OCCLUDERS } from './occluders';

const SKIN = { y: 150, u: 115, v: 150 };

/** The part of the lips, 0.6 wide and 0.2 high, that an occluder covers. */
function lipsCovered(name: string, seconds: number): number {
  const occluder = OCCLUDERS.find((known) => known.name === name);
  const places = [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3].flatMap((x) =>
    [-0.1, 0, 0.1].map((y) => [x, y] as const),
  );
  const covered = places.filter(([x, y]) => (occluder?.at(x, y, seconds, SKIN).alpha ?? 0) > 0.1);
  return covered.length / places.length;
}

const NAMES = OCCLUDERS.map(({ name }) => name);

test('twelve different occluders leave the mouth free at the beginning and at the end of a clip', () => {
  expect(new Set(NAMES).size).toBe(12);
  for (const name of NAMES)
    for (const seconds of [0, 0.4, CLIP_SECONDS - 0.6, CLIP_SECONDS - 0.04])
      expect(lipsCovered(name, seconds)).toBe(0);
});

test('some cover the mouth in between, some a part of it, some lie beside it', () => {
  const most = (name: string): number =>
    Math.max(...Array.from({ length: 25 * CLIP_SECONDS }, (_, frame) => lipsCovered(name, frame / 25)));
  const covering = NAMES.filter((name) => most(name) > 0.7);
  const beside = NAMES.filter((name) => most(name) === 0);
  expect(covering).toEqual([
    'hand over the mouth',
    'fingers that pass',
    'microphone that comes and goes',
    'cup',
    'glass of water',
    'scarf pulled up',
    'somebody who passes',
  ]);
  expect(beside).toEqual(['hand at the chin', 'microphone at the chin throughout']);
});
