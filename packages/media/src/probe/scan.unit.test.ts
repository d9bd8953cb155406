import { VIDEO_64 } from '../test/tools';
import { countFields, scanOf } from './scan';
import { type VideoStream } from './stream-info';

const print = (verdict: string): string =>
  `frame:0    pts:512     pts_time:0.04\nlavfi.idet.single.current_frame=${verdict}\n`;

const flagged = (change: Partial<VideoStream> = {}): VideoStream => ({
  ...VIDEO_64,
  height: 1080,
  scan: 'bff',
  ...change,
});

describe('countFields', () => {
  it('counts the pictures within each run, among other lines, and not what does not move', () => {
    const run = ['tff', ...Array<string>(17).fill('bff'), 'undetermined', 'progressive'];
    const output = [...run, ...run, 'tff', 'tff'].map(print).join('frame=7\nfps=0.00\n');
    expect(countFields(output)).toEqual({ progressive: 0, tff: 1, bff: 34 });
  });
});

describe('scanOf', () => {
  it.each([
    ['whole', 'progressive', { progressive: 3, tff: 0, bff: 0 }],
    ['of fields, the top first', 'tff', { progressive: 0, tff: 3, bff: 0 }],
    ['of fields, the bottom first', 'bff', { progressive: 2, tff: 0, bff: 100 }],
    ['telecined film', 'tff', { progressive: 60, tff: 40, bff: 0 }],
    ['whole but for a short insert', 'progressive', { progressive: 90, tff: 10, bff: 0 }],
    ['noise or a grid', 'progressive', { progressive: 15, tff: 70, bff: 40 }],
  ] as const)('takes pictures that seem %s for %s, whatever the flag says', (_, scan, counts) => {
    for (const said of ['progressive', 'tff', 'bff'] as const)
      expect(scanOf(counts, flagged({ scan: said }))).toBe(scan);
  });

  it('takes pictures that come faster than any pairs of fields for whole', () => {
    const stream = flagged({ fps: 50, scan: 'tff' });
    expect(scanOf({ progressive: 0, tff: 100, bff: 0 }, stream)).toBe('progressive');
  });

  it.each<[string, string, Partial<VideoStream>]>([
    ['television', 'bff', {}],
    ['a codec without fields', 'progressive', { codec: 'vp9' }],
    ['a size that no television has', 'progressive', { height: 720 }],
    ['a telephone', 'progressive', { upright: ['transpose=clock'] }],
    ['a matrix that is left to ffmpeg', 'progressive', { upright: null }],
  ])('where nothing moves, believes the flag of %s: %s', (_, scan, stream) => {
    expect(scanOf({ progressive: 1, tff: 1, bff: 0 }, flagged(stream))).toBe(scan);
  });
});
