import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readHearingWeights } from './weights';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearing-weights-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const METADATA = { ramps: '[[-1,1]]' };

/** A file of one tensor, [1, −2, 2⁻²⁴, 65504] unless its bits are given. */
async function written(
  header: object,
  bits: readonly number[] = [0x3c00, 0xc000, 1, 0x7bff],
): Promise<string> {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const path = join(folder, 'weights.safetensors');
  await writeFile(path, Buffer.concat([length, json, Buffer.from(Uint16Array.from(bits).buffer)]));
  return path;
}

const tensor = { dtype: 'F16', shape: [2, 2], data_offsets: [0, 8] };

test('half precision is read exactly, with its smallest and its largest number', async () => {
  const weights = readHearingWeights(await written({ __metadata__: METADATA, 'a.weight': tensor }));
  expect(weights.tensor('a.weight')).toEqual({
    dims: [2, 2],
    data: Float32Array.of(1, -2, 2 ** -24, 65504),
  });
  expect(weights.ramps).toEqual([[-1, 1]]);
});

test('a damaged file is refused with what is wrong with it', async () => {
  const lacking = readHearingWeights(await written({ __metadata__: METADATA, a: tensor }, [0x3c00]));
  expect(() => lacking.tensor('a')).toThrow('ends within a');
  expect(() => lacking.tensor('b')).toThrow('there is no b');
  const unknown = await written({ __metadata__: METADATA, a: { ...tensor, dtype: 'F32' } });
  expect(() => readHearingWeights(unknown)).toThrow('is not a file of hearing weights');
  await writeFile(unknown, (await readFile(unknown)).subarray(0, 5));
  expect(() => readHearingWeights(unknown)).toThrow('is not a file of hearing weights');
  expect(() => readHearingWeights(join(folder, 'none'))).toThrow('cannot be read');
});
