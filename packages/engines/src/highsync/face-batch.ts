import { type FaceBatch, type GeneratedFaces } from '../engine';

type Floats = Float32Array<ArrayBuffer>;

/** What the batches of one clip need. */
export interface BatchParts {
  /** The stretch that an output frame belongs to; −1 when it shows no face. */
  stretchOf(output: number): number;
  /** Generates the crops of output frames of one stretch, each [3, side, side] in [-1, 1]. */
  generate(stretch: number, outputs: readonly number[]): Promise<readonly Floats[]>;
  /** Blends a crop into its frame. */
  paste(frame: Uint8Array, output: number, image: Floats): void;
  /** Returns an image of `generate` for reuse. */
  give(image: Floats): void;
}

/** Output frames of one stretch that need a face. */
export class WantedFaces implements FaceBatch {
  private readonly outputs: number[] = [];
  /** The stretch of the frames taken so far; undefined while there are none. */
  private stretch: number | undefined;

  constructor(
    private readonly batchSize: number,
    private readonly parts: BatchParts,
  ) {}

  get size(): number {
    return this.outputs.length;
  }

  joins(output: number): boolean {
    const stretch = this.parts.stretchOf(output);
    return stretch < 0 || stretch === this.stretch;
  }

  take(_frame: Uint8Array, output: number): number | null {
    const stretch = this.parts.stretchOf(output);
    if (stretch < 0) return null;
    if (this.size >= this.batchSize) throw new RangeError('the batch is full');
    this.stretch ??= stretch;
    if (this.stretch !== stretch) throw new RangeError('the batch is of another stretch');
    return this.outputs.push(output) - 1;
  }

  async infer(): Promise<DecodedFaces> {
    const { outputs, stretch, parts } = this;
    const images = stretch === undefined ? [] : await parts.generate(stretch, outputs);
    return new DecodedFaces(outputs, images, parts);
  }
}

/** Generated crops, ready to be pasted. */
export class DecodedFaces implements GeneratedFaces {
  constructor(
    readonly outputs: readonly number[],
    /** Each [3, side, side] in [-1, 1]. */
    readonly images: readonly Floats[],
    private readonly parts: Pick<BatchParts, 'paste' | 'give'>,
  ) {}

  put(slot: number, frame: Uint8Array): void {
    const output = this.outputs[slot];
    const image = this.images[slot];
    if (output === undefined || image === undefined) throw new RangeError(`slot ${slot} holds no face`);
    this.parts.paste(frame, output, image);
  }

  recycle(): void {
    for (const image of this.images) this.parts.give(image);
  }
}
