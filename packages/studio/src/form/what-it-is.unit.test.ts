import { whatItIs } from './what-it-is';

const letters = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0));
const u16 = (value: number): number[] => [value >> 8, value & 255];
const u32 = (value: number): number[] => [...u16(value >>> 16), ...u16(value & 0xffff)];
const zeros = (count: number): number[] => new Array<number>(count).fill(0);
const box = (name: string, ...content: number[][]): number[] => {
  const body = content.flat();
  return [...u32(8 + body.length), ...letters(name), ...body];
};
const file = (...parts: number[][]): Blob => new Blob([new Uint8Array(parts.flat())]);

const sample = (name: string): number[] =>
  box('stsd', u32(0), u32(1), box(name, zeros(24), u16(1920), u16(1080), zeros(50)));
const moov = (name: string): number[] =>
  box('moov', box('mvhd', u32(0), zeros(8), u32(600), u32(5130), zeros(80)), sample(name));

describe('what a file is', () => {
  it('is read from the table of contents of MP4 and MOV, wherever that lies', async () => {
    const mov = box('ftyp', letters('qt  '), zeros(4));
    const facts = { seconds: 8.55, size: '1920 × 1080', isText: false };
    expect(await whatItIs(file(mov, moov('hvc1'), box('mdat', zeros(9))))).toEqual({
      ...{ container: 'MOV', codec: 'HEVC' },
      ...facts,
    });
    const mp4 = box('ftyp', letters('isom'), zeros(4));
    expect(await whatItIs(file(mp4, box('mdat', zeros(400_000)), moov('apch')))).toEqual({
      ...{ container: 'MP4', codec: 'ProRes' },
      ...facts,
    });
  });

  it('is read from the list of tracks of Matroska', async () => {
    const ebml = [0x1a, 0x45, 0xdf, 0xa3, 0x9f, ...letters('matroska')];
    const info = [
      ...[0x2a, 0xd7, 0xb1, 0x83, 0x0f, 0x42, 0x40],
      ...[0x44, 0x89, 0x84],
      ...[0x45, 0xfa, 0, 0],
    ];
    expect(await whatItIs(file(ebml, info, letters('V_MPEGH/ISO/HEVC'), zeros(20)))).toEqual({
      ...{ container: 'Matroska', codec: 'HEVC', seconds: 8, size: null, isText: false },
    });
  });

  it('is text, whatever the name says', async () => {
    expect((await whatItIs(new Blob(['To do:\n\t- milk\n']))).isText).toBe(true);
    expect((await whatItIs(file(letters('RIFF'), zeros(40)))).isText).toBe(false);
  });

  it.each([
    ['nothing', file()],
    ['a beginning alone', file(box('ftyp', letters('isom')))],
    [
      'a box without an end',
      file(box('ftyp', letters('isom')), [0, 0, 0, 2, ...letters('free'), ...zeros(8)]),
    ],
    ['a list of tracks that is cut off', file([0x1a, 0x45, 0xdf, 0xa3, 0x2a, 0xd7, 0xb1, 0x83, 0x0f])],
    ['a file that is gone', { slice: () => ({ arrayBuffer: () => Promise.reject(new Error()) }) } as never],
    ['an empty table of contents', file(box('ftyp', letters('isom')), box('moov'), zeros(8))],
  ])('is unknown of %s', async (_what, blob) => {
    expect(await whatItIs(blob)).toMatchObject({ codec: null, seconds: null, size: null });
  });
});
