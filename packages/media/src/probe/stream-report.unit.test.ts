import { transferOf } from './stream-info';
import { parseStreams } from './stream-report';

const videoWith = (entries: Record<string, unknown>) =>
  parseStreams({ streams: [{ codec_type: 'video', ...entries }] }).video;

describe("ffprobe's report of a video", () => {
  it.each([
    ['yuv420p', 8, false],
    ['yuvj422p', 8, false],
    ['nv16', 8, false],
    ['rgb565le', 8, false],
    ['bgra', 8, true],
    ['yuv420p10le', 10, false],
    ['yuv444p12le', 10, false],
    ['gray16be', 10, false],
    ['yuva444p16le', 10, true],
    ['gbrap12le', 10, true],
  ])('reads depth and alpha from the pixel format %s', (pix_fmt, depth, alpha) => {
    expect(videoWith({ pix_fmt })).toMatchObject({ depth, alpha });
  });

  it.each([
    ['30000/1001', '30000/1001', { num: 30_000, den: 1001 }],
    ['30/1', '29990/1000', { num: 30, den: 1 }],
    ['30/1', '30000/1001', { num: 30, den: 1 }],
    ['30/1', '2990/100', null],
    ['50/1', '25/1', null],
    ['90000/1', '0/0', null],
    [undefined, '25/1', null],
  ])('claims a rate only if steps of %s a second are also the mean of %s', (base, average, rate) => {
    expect(videoWith({ r_frame_rate: base, avg_frame_rate: average })?.rate).toEqual(rate);
  });

  it.each([
    ['progressive', 'progressive'],
    ['unknown', 'progressive'],
    ['tt', 'tff'],
    ['bt', 'tff'],
    ['bb', 'bff'],
    ['tb', 'bff'],
  ])('takes the field order %s for %s: what counts is the field shown first', (field_order, scan) => {
    expect(videoWith({ field_order })?.scan).toBe(scan);
  });

  it.each([
    ['smpte2084', 'pq'],
    ['arib-std-b67', 'hlg'],
    ['bt709', 'sdr'],
    [undefined, 'sdr'],
  ])('understands the transfer %s as %s', (color_transfer, transfer) => {
    expect(transferOf(videoWith({ color_transfer }) ?? { color: {} })).toBe(transfer);
  });

  it.each([['01:00:00'], ['-timecode 1'], ['01:00:00:00\n'], ['aa:00:00:00']])(
    'does not pass %j on as a timecode',
    (timecode) => {
      expect(videoWith({ tags: { timecode } })?.timecode).toBeUndefined();
    },
  );

  it('has no mastering display if a part of its description is missing or negative', () => {
    const side_data_list = [{ red_x: '1/50000', red_y: '-1/50000', max_content: 1000 }];
    expect(videoWith({ side_data_list })?.hdr).toEqual({});
  });

  it.each([
    ['und', undefined],
    ['deu', 'deu'],
    ['de-DE', undefined],
  ])('of a sound in the language %s reports %s', (language, expected) => {
    const { audio } = parseStreams({ streams: [{ codec_type: 'audio', tags: { language } }] });
    expect(audio?.language).toBe(expected);
  });
});
