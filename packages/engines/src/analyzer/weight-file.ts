import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PackError } from '@lipsync/model-pack';
import { z } from 'zod';

/** One weight in float32, however it was stored. */
interface Weight {
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

/** The weights of one network by name. */
export interface Weights {
  /**
   * Returns the weight with that name.
   * @throws PackError if the file has none or its shape differs from `dims`
   */
  get(name: string, dims: readonly number[]): Float32Array;
}

/** TensorFlow.js weights manifest. The files read here only use 8-bit affine quantization. */
const weightsManifestSchema = z.array(
  z.object({
    paths: z.array(z.string()).length(1),
    weights: z.array(
      z.object({
        name: z.string(),
        shape: z.array(z.int().nonnegative()),
        quantization: z.object({ dtype: z.literal('uint8'), scale: z.number(), min: z.number() }),
      }),
    ),
  }),
);

/**
 * Reads `<model>-weights_manifest.json` and the binary file that it names from a directory, and dequantizes: value =
 * byte · scale + min. Rejects with PackError if a file is missing, malformed or too short.
 */
export async function readWeights(dir: string, model: string): Promise<Weights> {
  const groups = weightsManifestSchema.safeParse(
    JSON.parse((await readPart(dir, `${model}-weights_manifest.json`)).toString('utf8')),
  );
  if (!groups.success) throw new PackError('manifest_invalid', `${model}: unknown kind of weights manifest`);

  const weights = new Map<string, Weight>();
  for (const group of groups.data) {
    const bytes = await readPart(dir, group.paths[0] ?? '');
    let offset = 0;
    for (const { name, shape, quantization } of group.weights) {
      const count = shape.reduce((product, dim) => product * dim, 1);
      const stored = bytes.subarray(offset, offset + count);
      if (stored.length !== count)
        throw new PackError('manifest_invalid', `${model}: weights end before ${name}`);
      const data = Float32Array.from(stored, (byte) => byte * quantization.scale + quantization.min);
      weights.set(name, { dims: shape, data });
      offset += count;
    }
  }
  return { get: (name, dims) => weightOf(weights, model, name, dims) };
}

function weightOf(
  weights: ReadonlyMap<string, Weight>,
  model: string,
  name: string,
  dims: readonly number[],
): Float32Array {
  const weight = weights.get(name);
  if (weight === undefined || weight.dims.join() !== dims.join()) {
    const found = weight === undefined ? 'none' : `[${weight.dims.join(',')}]`;
    throw new PackError(
      'manifest_invalid',
      `${model}: ${name} should be [${dims.join(',')}], found ${found}`,
    );
  }
  return weight.data;
}

async function readPart(dir: string, file: string): Promise<Buffer> {
  try {
    return await readFile(join(dir, file));
  } catch (cause) {
    throw new PackError('file_missing', `${join(dir, file)} cannot be read`, { cause });
  }
}
