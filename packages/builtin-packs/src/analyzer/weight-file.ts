import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PackError } from '@lipsync/model-pack';
import { z } from 'zod';

/** The weights of one network in float32, by name. Throws PackError if there is none of that name. */
export type Weights = (name: string) => Float32Array;

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

  const weights = new Map<string, Float32Array>();
  for (const group of groups.data) {
    const bytes = await readPart(dir, group.paths[0] ?? '');
    let offset = 0;
    for (const { name, shape, quantization } of group.weights) {
      const end = offset + shape.reduce((product, dim) => product * dim, 1);
      if (end > bytes.length) throw new PackError('manifest_invalid', `${model}: weights end before ${name}`);
      const stored = bytes.subarray(offset, end);
      weights.set(
        name,
        Float32Array.from(stored, (byte) => byte * quantization.scale + quantization.min),
      );
      offset = end;
    }
  }
  return (name) => {
    const found = weights.get(name);
    if (!found) throw new PackError('manifest_invalid', `${model}: there is no ${name}`);
    return found;
  };
}

async function readPart(dir: string, file: string): Promise<Buffer> {
  try {
    return await readFile(join(dir, file));
  } catch (cause) {
    throw new PackError('file_missing', `${join(dir, file)} cannot be read`, { cause });
  }
}
