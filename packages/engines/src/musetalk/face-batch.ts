import { type BlendMask, type PasteFace } from '@lipsync/kernels';
import { type FaceBatch, type GeneratedFaces } from '../engine';
import { LANDMARK_VALUES, writeCropLandmarks } from '../face/landmarks';
import { allEnded } from '../in-order';
import { type ArrayPool } from '../model';
import { type SourceFace } from './faces';
import { type CutFace, type CutFaces, type FaceFeatures, type FeatureRecords } from './features';
import { type FaceMasks } from './mask';

type Floats = Float32Array<ArrayBuffer>;

/** What the batches of one clip need. */
export interface BatchParts {
  readonly batchSize: number;
  /** Side of a crop in pixels. */
  readonly side: number;
  /** The face of an output frame; null when the frame must pass unchanged. */
  faceOf(outputIndex: number): SourceFace | null;
  /** The look whose mouths the generator sees. Only faces with the same may share a batch. */
  lookOf(outputIndex: number): number;
  readonly faceFeatures: FaceFeatures;
  readonly records: FeatureRecords;
  readonly masks: FaceMasks;
  readonly cut: CutFace;
  readonly paste: PasteFace;
  readonly pool: ArrayPool;
  /** Generates faces [batch, 3, side, side] from full arrays of latents and landmarks, both of which it takes over. */
  generate(latents: Floats, landmarks: Floats, outputs: readonly number[]): Promise<Floats>;
}

/** A face that waits for the generator. */
interface WaitingFace {
  readonly outputIndex: number;
  readonly face: SourceFace;
  /** Set if the clip has shown this source frame before. */
  readonly mask: BlendMask | undefined;
}

/** Faces that wait for the generator. */
export class WaitingFaces implements FaceBatch {
  private readonly waiting: WaitingFace[] = [];
  /** Slots that show the same source frame as another slot of the batch, with that slot. */
  private readonly twins: { readonly slot: number; readonly of: number }[] = [];
  /** [batch, 68, 2] in pixels of the crop. */
  private readonly landmarks: Floats;
  /** [batch, 2·channels, height, width]; so far only the faces whose features are stored. */
  private readonly latents: Floats;
  /** [batch, lower half of a mask], likewise; empty when no face is parsed. */
  private readonly parsed: Floats;
  /** The faces whose features are not stored. */
  private readonly cut: CutFaces;

  constructor(private readonly parts: BatchParts) {
    const { batchSize, faceFeatures, pool } = parts;
    this.landmarks = pool.take(batchSize * LANDMARK_VALUES);
    this.latents = pool.take(batchSize * faceFeatures.latentValues);
    this.parsed = pool.take(batchSize * faceFeatures.maskValues);
    this.cut = faceFeatures.newCut();
  }

  get size(): number {
    return this.waiting.length;
  }

  get full(): boolean {
    return this.size >= this.parts.batchSize;
  }

  /** Every frame is generated on its own, so any faces may share a batch that wear the same look. */
  joins(outputIndex: number): boolean {
    const { parts, waiting } = this;
    const first = waiting[0]?.outputIndex ?? outputIndex;
    return parts.lookOf(outputIndex) === parts.lookOf(first);
  }

  take(frame: Uint8Array, outputIndex: number): number | null {
    const { parts, size: slot } = this;
    const face = parts.faceOf(outputIndex);
    if (face === null) return null;
    if (this.full) throw new RangeError('the batch is full');
    const { sourceIndex } = face;
    writeCropLandmarks(face.landmarks, 0, face.box, parts.side, this.landmarks, slot * LANDMARK_VALUES);
    const mask = parts.masks.find(sourceIndex);
    const twin = this.waiting.findIndex((other) => other.face.sourceIndex === sourceIndex);
    if (twin >= 0) this.twins.push({ slot, of: twin });
    else if (parts.records.has(sourceIndex)) parts.records.read(sourceIndex, slot, this.latents, this.parsed);
    else parts.cut(frame, face, this.cut, slot, mask === undefined);
    this.waiting.push({ outputIndex, face, mask });
    return slot;
  }

  async infer() {
    const { parts, waiting, landmarks, parsed } = this;
    const { side, pool, paste } = parts;
    const features = parts.faceFeatures.compute(this.cut, this.latents, parsed);
    // Faces are generated while they may still be parsed: nothing but the paste waits for their masks.
    const encoding = features.encoded.then(() => this.copyLatents());
    const generating = encoding.then(() => {
      this.fillUp();
      const outputs = waiting.map(({ outputIndex }) => outputIndex);
      return parts.generate(this.latents, landmarks, outputs);
    });
    const placing = features.parsed.then(() =>
      waiting.map(({ face, mask }, slot) => ({
        box: face.box,
        mask: mask ?? parts.masks.get(face, parsed, slot),
      })),
    );
    const keeping = allEnded([encoding, features.parsed]).then(([latents]) => {
      this.keepComputed(latents);
      pool.give(latents);
    });
    const [generated, places] = await allEnded([generating, placing, keeping]);
    pool.give(parsed);
    const size = 3 * side * side;
    return {
      image: (slot) => generated.subarray(slot * size, (slot + 1) * size),
      put(slot, frame) {
        const place = places[slot];
        if (!place) throw new RangeError(`slot ${slot} holds no face`);
        paste(frame, place.box, generated, slot * size, place.mask);
      },
      recycle: () => pool.give(generated),
    } satisfies GeneratedFaces & { image(slot: number): Floats };
  }

  /** The generator takes the latents over. */
  private copyLatents(): Floats {
    const copy = this.parts.pool.take(this.latents.length);
    copy.set(this.latents);
    return copy;
  }

  private keepComputed(latents: Floats): void {
    const { faceFeatures, records } = this.parts;
    for (const { slot, isParsed } of this.cut.faces) {
      // A face whose mask was already known was not parsed, so its record would be incomplete and is not stored.
      const whole = faceFeatures.maskValues === 0 || isParsed;
      if (whole) records.write(this.waiting[slot]?.face.sourceIndex ?? -1, slot, latents, this.parsed);
    }
  }

  /** Fills the slots that have no features of their own. */
  private fillUp(): void {
    const { batchSize, faceFeatures } = this.parts;
    const { latentValues } = faceFeatures;
    for (const { slot, of } of this.twins) copySlot(this.latents, latentValues, of, slot);
    // Padding repeats a real face: graphs may divide by what they measure on it.
    for (let slot = this.size; slot < batchSize; slot++) {
      copySlot(this.latents, latentValues, 0, slot);
      copySlot(this.landmarks, LANDMARK_VALUES, 0, slot);
    }
  }
}

function copySlot(values: Floats, size: number, from: number, to: number): void {
  values.copyWithin(to * size, from * size, (from + 1) * size);
}
