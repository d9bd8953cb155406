import { SYNC_MODES } from '@lipsync/contract';
import { outputFrameCount, sourceFrameIndex, WORKING_FPS } from '@lipsync/domain';
import fc from 'fast-check';
import { frameAt, frameCount, middleOf, sourcePosition } from './source-clock';

const lengths = fc.record({
  mode: fc.constantFrom(...SYNC_MODES),
  videoFrames: fc.integer({ min: 1, max: 400 }),
  audioFrames: fc.integer({ min: 1, max: 400 }),
});

describe('the source beside an output', () => {
  it('shows the frame that the service took, at every frame of every mode', () => {
    fc.assert(
      fc.property(lengths, fc.nat(), ({ mode, videoFrames, audioFrames }, seed) => {
        const outputFrames = outputFrameCount(mode, videoFrames, audioFrames / WORKING_FPS);
        const index = seed % outputFrames;
        const { frame } = sourcePosition({ mode, videoFrames, outputFrames }, index);
        expect(frame).toBe(sourceFrameIndex(mode, index, { videoFrames, outputFrames }));
      }),
    );
  });

  it.each([
    ['cut_off', 3, 1],
    ['silence', 3, 1],
    ['silence', 9, 0],
    ['loop', 9, 1],
    ['bounce', 3, 1],
    ['bounce', 12, -1],
    ['remap', 3, 0.5],
  ] as const)('%s moves at output frame %d at %d times the speed of the film', (mode, index, rate) => {
    expect(sourcePosition({ mode, videoFrames: 10, outputFrames: 20 }, index).rate).toBe(rate);
  });

  it('stays inside the source when its length was measured a frame too short', () => {
    const timeline = { mode: 'remap', videoFrames: 5, outputFrames: 5 } as const;
    expect(sourcePosition(timeline, 6).frame).toBe(4);
  });
});

describe('frames and seconds', () => {
  it('a seek to the middle of a frame finds that frame, also when the browser returns whole microseconds', () => {
    for (let frame = 0; frame < 7500; frame++)
      expect(frameAt(Math.floor(middleOf(frame) * 1e6) / 1e6)).toBe(frame);
  });

  it('counts whole frames of a length that is rounded to milliseconds', () => {
    expect(frameCount(8.639)).toBe(216);
    expect(frameCount(0.01)).toBe(1);
  });
});
