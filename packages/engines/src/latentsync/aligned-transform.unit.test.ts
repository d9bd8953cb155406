import { alignedSize, alignmentBias, type FacePoints, similarity, templatePoints } from './aligned-transform';

const POINTS: FacePoints = [
  { x: 400, y: 300 },
  { x: 520, y: 310 },
  { x: 455, y: 360 },
];

test('the template is the one that the networks were trained with', () => {
  const expected = [
    { x: 47.6, y: 56 },
    { x: 162.4, y: 56 },
    { x: 105, y: 112 },
  ];
  templatePoints(256).forEach((point, i) => {
    expect(point.x).toBeCloseTo(expected[i]?.x ?? NaN, 9);
    expect(point.y).toBeCloseTo(expected[i]?.y ?? NaN, 9);
  });
  expect(alignedSize(256).width).toBeCloseTo(210, 9);
  expect(alignedSize(512).height).toBeCloseTo(560, 9);
});

test('the transform is the published one', () => {
  const {
    a = NaN,
    b = NaN,
    c = NaN,
    d = NaN,
    e = NaN,
    f = NaN,
  } = similarity(POINTS, templatePoints(256)) ?? {};
  expect(Math.hypot(a, d)).toBeCloseTo(0.966969, 6);
  expect(Math.atan2(d, a)).toBeCloseTo(-0.0848687, 7);
  const published = [0.9634888, 0.081967, -363.10166, -0.081967, 0.9634888, -199.29321];
  [a, b, c, d, e, f].forEach((value, i) =>
    expect(Math.abs(value - (published[i] ?? NaN))).toBeLessThan(5e-5),
  );
});

test('the bias of a single frame is the published one', () => {
  const bias = alignmentBias(POINTS, templatePoints(256));
  expect(bias.x).toBeCloseTo(0.0773594, 6);
  expect(bias.y).toBeCloseTo(0.0450686, 6);
  const { c = NaN, f = NaN } = similarity(POINTS, templatePoints(256)) ?? {};
  expect(c + bias.x).toBeCloseTo(-363.02429, 3);
  expect(f + bias.y).toBeCloseTo(-199.24814, 3);
});

test('points that coincide have no transform', () => {
  const point = { x: 3, y: 4 };
  expect(similarity([point, point, point], templatePoints(256))).toBeNull();
});
