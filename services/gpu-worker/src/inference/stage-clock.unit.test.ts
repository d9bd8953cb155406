import { createStageClock } from './stage-clock';

/** A clock and graphs that only move when told. */
function scripted() {
  let now = 0;
  let [runMs, occupiedMs] = [0, 0];
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const clock = createStageClock({ runMs: () => runMs, occupiedMs: () => occupiedMs });
  return {
    clock,
    pass: (ms: number) => void (now += ms),
    /** A graph runs for `ms`, and its tensors travel for some more. */
    graph: (ms: number, travelMs = 0) => {
      now += ms + travelMs;
      runMs += ms;
      occupiedMs += ms + travelMs;
    },
  };
}

afterEach(() => jest.restoreAllMocks());

test('every millisecond counts once: in a graph, on the way to it, or for what it waited', async () => {
  const { clock, pass, graph } = scripted();
  pass(1);
  await clock.during('decode', async () => {
    pass(20);
    graph(300, 7);
    clock.sync('paste', () => pass(50));
    await clock.during('encode', async () => pass(5));
  });
  await clock.during('encode', async () => pass(11));
  const { totalMs, wall, decodeMs, pasteMs } = clock.timings();

  expect(wall).toEqual({ graphs: 300, handover: 7, other: 1, decode: 25, paste: 50, encode: 11 });
  expect(Object.values<number>({ ...wall }).reduce((sum, ms) => sum + ms, 0)).toBe(totalMs);
  // The stages themselves overlap.
  expect([decodeMs, pasteMs]).toEqual([382, 50]);
});

test('while pictures and sound are decoded at once, the graphs wait for the sound, which every mouth needs', async () => {
  const { clock, pass } = scripted();
  await clock.during('decode', async () => {
    await clock.during('audio', async () => pass(90));
    pass(30);
  });
  expect(clock.timings().wall).toMatchObject({ audio: 90, decode: 30 });
});

test('a stage that fails is over', async () => {
  const { clock, pass } = scripted();
  const failing = clock.during('load', async () => {
    pass(4);
    throw new Error('no such graph');
  });
  await expect(failing).rejects.toThrow('no such graph');
  pass(6);
  expect(clock.timings().wall).toEqual({ graphs: 0, handover: 0, load: 4, other: 6 });
});
