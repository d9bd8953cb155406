import { execFile, spawnSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import * as domain from '@lipsync/domain';
import { asContractInput, CONTENT_TYPE_BY_EXTENSION, CONTENT_TYPES, contentTypeOf } from './media';

const bytes = (beginning: string | number[], options: { type?: string; name?: string } = {}) => {
  const { type = '', name = '' } = options;
  return new File([typeof beginning === 'string' ? beginning : new Uint8Array(beginning)], name, { type });
};

it.each([
  ['asset ids', 'ast_01k3v9m5e8q4x7r2t6w0y1z3ab', { asset_id: 'ast_01k3v9m5e8q4x7r2t6w0y1z3ab' }],
  ['addresses', 'https://media.example.com/face.mp4', { url: 'https://media.example.com/face.mp4' }],
  ['URLs', new URL('https://media.example.com/face.mp4'), { url: 'https://media.example.com/face.mp4' }],
  ['what the service will refuse', 'http://media.example.com/a', { url: 'http://media.example.com/a' }],
  ['inputs of the contract', { asset_id: 'anything' }, { asset_id: 'anything' }],
  ['paths', 'face.mp4', null],
  ['paths of Windows', 'C:\\media\\face.mp4', null],
  ['files that look like assets', './ast_01k3v9m5e8q4x7r2t6w0y1z3ab', null],
  ['file URLs', new URL('file:///media/face.mp4'), null],
  ['Blobs', new Blob([]), null],
])('tells %s from the others', (_, input, expected) => {
  expect(asContractInput(input)).toEqual(expected);
});

describe('the content type', () => {
  const packets = (offset: number, size: number) =>
    Array.from({ length: 400 }, (_, i) => ((i - offset) % size === 0 ? 0x47 : 0));
  const ftyp = (brand: string) => [0, 0, 0, 32, ...Buffer.from(`ftyp${brand}`)];

  it.each([
    ['by the type of a Blob', bytes('', { type: 'Video/MP4; codecs=avc1', name: 'x.mov' }), 'video/mp4'],
    ['by the name', bytes('', { name: 'Clip.MOV' }), 'video/quicktime'],
    ['by the first bytes: QuickTime', bytes(ftyp('qt  ')), 'video/quicktime'],
    ['by the first bytes: MP4', bytes(ftyp('isom')), 'video/mp4'],
    [
      'by the name, where its own type is none of the contract',
      bytes('', { type: 'video/mp2t', name: 'a.MTS' }),
      'video/mp4',
    ],
    ['by the first bytes: MPEG-TS', bytes(packets(0, 188)), 'video/mp4'],
    ['by the first bytes: MPEG-TS of a camcorder', bytes(packets(4, 192)), 'video/mp4'],
    ['by the first bytes: Matroska', bytes([0x1a, 0x45, 0xdf, 0xa3]), 'video/webm'],
  ])('of a video is found %s', async (_, source, expected) => {
    await expect(contentTypeOf(source, 'video')).resolves.toBe(expected);
  });

  it.each([
    ['a film', bytes('', { type: 'video/mp4' }), 'audio/mp4'],
    ['a recording of a browser', bytes('', { type: 'audio/webm;codecs=opus' }), 'audio/webm'],
    ['MP3 with tags', bytes('ID3\u0004'), 'audio/mpeg'],
    ['MP3', bytes([0xff, 0xfb, 0x90]), 'audio/mpeg'],
    ['AAC', bytes([0xff, 0xf1, 0x50]), 'audio/aac'],
    ['AIFF', bytes('FORM....AIFCFVER'), 'audio/wav'],
    ['AC-3', bytes([0x0b, 0x77, 0x12]), 'audio/mp4'],
    ['WMA', bytes('', { type: 'audio/x-ms-wma', name: 'voice.wma' }), 'audio/mp4'],
    ['the sound of a camcorder', bytes('', { name: '00001.MTS' }), 'audio/mp4'],
    ['WAV', bytes('RIFF....WAVEfmt '), 'audio/wav'],
    ['FLAC', bytes('fLaC'), 'audio/flac'],
    ['Ogg', bytes('OggS'), 'audio/ogg'],
  ])('of a voice is found for %s', async (_, source, expected) => {
    const type = await contentTypeOf(source, 'audio');
    expect(type).toBe(expected);
  });

  it('is one that the service lets uploads declare', () => {
    expect(CONTENT_TYPES).toEqual(domain.CONTENT_TYPES);
    for (const kind of ['video', 'audio'] as const)
      for (const type of Object.values(CONTENT_TYPE_BY_EXTENSION[kind]))
        expect(CONTENT_TYPES[kind]).toContain(type);
  });

  const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']);
  const where = python.status === 0 ? it : it.skip;
  where('is the same in Python', async () => {
    const print = `import json, lipsync
print(json.dumps([lipsync.CONTENT_TYPES, lipsync.CONTENT_TYPE_BY_EXTENSION]))`;
    const PYTHONPATH = path.join(__dirname, '../../client-python/src');
    const env = { ...process.env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await promisify(execFile)('python3', ['-c', print], { env });
    expect(JSON.parse(stdout)).toEqual([CONTENT_TYPES, CONTENT_TYPE_BY_EXTENSION]);
  });

  it('has to be named where nothing tells it', async () => {
    await expect(contentTypeOf(bytes('hello'), 'video')).rejects.toThrow('pass contentType');
    await expect(contentTypeOf(bytes('hello'), 'video', 'video/webm')).resolves.toBe('video/webm');
  });
});
