import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PackError } from '@lipsync/model-pack';
import { z } from 'zod';

/** What the training wrote: see the card beside it. Sources and what they compile to are equally far from it. */
const FILE = join(__dirname, '../../weights/hearing.safetensors');

export interface HearingWeights {
  /** Throws PackError if there is none of that name. */
  tensor(name: string): { readonly dims: readonly number[]; readonly data: Float32Array };
  /** For each cue, the output of the network at which it is 0 and at which it is 1. */
  readonly ramps: readonly (readonly [from: number, to: number])[];
}

/**
 * Reads the network's weights: a safetensors file, which is the length of a JSON header in 8 bytes, the header, and the
 * tensors in half precision. Throws PackError if it is missing or damaged.
 */
export function readHearingWeights(file = FILE): HearingWeights {
  const bytes = contentOf(file);
  const start = 8 + Number(bytes.length < 8 ? 0 : bytes.readBigUInt64LE());
  const parsed = headerSchema.safeParse(jsonOf(bytes.toString('utf8', 8, start)));
  if (!parsed.success) throw new PackError('manifest_invalid', `${file} is not a file of hearing weights`);
  const { __metadata__: metadata, ...tensors } = parsed.data;
  return {
    ramps: metadata.ramps,
    tensor(name) {
      const entry = tensors[name];
      if (!entry) throw new PackError('manifest_invalid', `${file}: there is no ${name}`);
      const [from, to] = entry.data_offsets;
      if (start + to > bytes.length) throw new PackError('manifest_invalid', `${file} ends within ${name}`);
      const data = Float32Array.from({ length: (to - from) / 2 }, (_, i) =>
        fromHalf(bytes.readUInt16LE(start + from + 2 * i)),
      );
      return { dims: entry.shape, data };
    },
  };
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new PackError('file_missing', `${file} cannot be read`, { cause });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const headerSchema = z
  .object({
    __metadata__: z.object({
      ramps: z
        .string()
        .transform(jsonOf)
        .pipe(z.array(z.tuple([z.number(), z.number()]))),
    }),
  })
  .catchall(
    z.object({
      dtype: z.literal('F16'),
      shape: z.array(z.int().positive()),
      data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
    }),
  );

/** The number that these 16 bits are in IEEE half precision. Weights are finite. */
function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  return exponent === 0 ? sign * fraction * 2 ** -14 : sign * (1 + fraction) * 2 ** (exponent - 15);
}
