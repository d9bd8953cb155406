import { type VideoStream } from '../probe/stream-info';
import { VIDEO_64 } from '../test/tools';
import { outputFormat } from './output-format';

const pq = { matrix: 'bt2020nc', primaries: 'bt2020', transfer: 'smpte2084', range: 'tv' } as const;
const hdr = { contentLight: { maxCll: 1000, maxFall: 400 } };
const SOURCES = {
  'plain SDR': VIDEO_64,
  'SDR of 10 bits': { ...VIDEO_64, depth: 10, pixFmt: 'yuv420p10le', color: { range: 'pc' } },
  PQ: { ...VIDEO_64, depth: 10, pixFmt: 'yuv420p10le', color: pq, hdr },
  'HLG in 8 bits': { ...VIDEO_64, color: { ...pq, transfer: 'arib-std-b67' } },
} satisfies Record<string, VideoStream>;

const DEEP = { depth: 10, layout: { format: 'yuv420p10le' } };
const FLAT = { depth: 8, layout: { format: 'yuv420p' }, hdr: {} };
const BT709 = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709', range: 'tv' };

describe('an output', () => {
  it.each([
    ['plain SDR', { ...FLAT, color: {} }],
    ['SDR of 10 bits', { ...DEEP, color: { range: 'pc' }, hdr: {} }],
    ['PQ', { ...DEEP, color: pq, hdr }],
    ['HLG in 8 bits', { ...DEEP, color: { ...pq, transfer: 'arib-std-b67' }, hdr: {} }],
  ] as const)('like its source keeps depth, color and light of %s', (source, format) => {
    expect(outputFormat(SOURCES[source], 'source')).toEqual(format);
  });

  it.each([
    ['plain SDR', { ...FLAT, color: {} }],
    ['SDR of 10 bits', { ...FLAT, color: { range: 'pc' } }],
    ['PQ', { ...FLAT, color: BT709 }],
    ['HLG in 8 bits', { ...FLAT, color: BT709 }],
  ] as const)('in H.264 has 8 bits, and never claims to be HDR: %s', (source, format) => {
    expect(outputFormat(SOURCES[source], 'h264')).toEqual(format);
  });
});
