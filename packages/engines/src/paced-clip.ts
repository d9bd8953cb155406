import { type Box } from '@lipsync/kernels';
import { type EngineClip, type FaceBatch, type GeneratedFaces } from './engine';
import { createInBetween } from './in-between';
import { type Pace } from './pace';

type Floats = Float32Array<ArrayBuffer>;

/** The crops [3, side, side] in [-1, 1] that were generated, by instant. */
type ImagesByInstant = ReadonlyMap<number, Floats>;

/** One clip of an engine that generates faces for the instants of a pace. */
export interface Generator {
  /** Number of instants in a full batch. */
  readonly batchSize: number;
  /** Side of a crop in pixels. */
  readonly side: number;
  /** The part of a crop that `paste` shows, in its pixels. */
  readonly shown: Box;
  newBatch(): InstantBatch;
  /** Blends a crop into a picture of a source frame. */
  paste(frame: Uint8Array, source: number, image: Floats): void;
  /** Picture pixels per pixel of the crop, see `EngineClip`. */
  enlargement(source: number): number;
  /** Takes a crop's memory back. */
  give(image: Floats): void;
  close(): Promise<void>;
}

/** Instants of one run, in order. */
export interface InstantBatch {
  /** Copies what the engine needs of an instant's picture. */
  take(frame: Uint8Array, instant: number): void;
  /** Generates the crops of all instants that are shown. */
  infer(): Promise<ImagesByInstant>;
}

/**
 * A clip whose frames show the faces that are generated for the instants of a pace. A frame between two instants is in
 * one batch with the later of them, and shows what is between both crops at its time, put where the face is in its own
 * picture, so that it does not swim. A crop is kept until the last frame that shows it was put back.
 */
export function createPacedClip(
  pace: Pace,
  /** The source frame of every output frame. */
  sources: readonly number[],
  generator: Generator,
) {
  const byOutput = instantsByOutput(pace);
  const { batchOf, longest } = planBatches(pace, byOutput, generator.batchSize);
  const crops = createCrops(pace, generator);
  const placeOf = (output: number): number => pace.places[output] ?? -1;
  const sourceOf = (output: number): number => sources[output] ?? -1;

  const facesOf = (outputs: readonly number[]) => {
    const outputAt = (slot: number): number => {
      const output = outputs[slot];
      if (output === undefined) throw new RangeError(`slot ${slot} holds no face`);
      return output;
    };
    const image = (slot: number): Floats => crops.at(placeOf(outputAt(slot)));
    return {
      image,
      put: (slot, frame) => generator.paste(frame, sourceOf(outputAt(slot)), image(slot)),
      recycle: () => outputs.forEach((output) => crops.release(placeOf(output))),
    } satisfies GeneratedFaces & { image(slot: number): Floats };
  };

  const newBatch = () => {
    const outputs: number[] = [];
    const batch = generator.newBatch();
    let taken = 0;
    return {
      get size() {
        return outputs.length;
      },
      get full() {
        const last = outputs.at(-1);
        return last !== undefined && batchOf[last + 1] !== batchOf[last];
      },
      joins(output) {
        const last = outputs.at(-1);
        return last === undefined || batchOf[output] === batchOf[last];
      },
      take(frame, output) {
        if (placeOf(output) < 0) return null;
        const [first = 0, end = 0] = byOutput.subarray(output, output + 2);
        taken += end - first;
        if (taken > generator.batchSize) throw new RangeError('the batch is full');
        for (let instant = first; instant < end; instant++) batch.take(frame, instant);
        return outputs.push(output) - 1;
      },
      async infer() {
        crops.add(await batch.infer());
        return facesOf(outputs);
      },
    } satisfies FaceBatch;
  };

  return {
    batchSize: longest,
    newBatch,
    enlargement: (output) => generator.enlargement(sourceOf(output)),
    close: () => generator.close(),
  } satisfies EngineClip;
}

/** The first instant of every output frame, and last the number of instants: one value more than there are frames. */
function instantsByOutput({ instants, places }: Pace): Int32Array {
  const first = new Int32Array(places.length + 1).fill(instants.length);
  for (const [instant, { output }] of [...instants.entries()].reverse()) first[output] = instant;
  for (let output = places.length - 1; output >= 0; output--)
    first[output] = Math.min(first[output] ?? 0, first[output + 1] ?? 0);
  return first;
}

/** Numbers the batch of every output frame, −1 for none, and counts the frames of the longest. */
function planBatches(
  { instants, runs }: Pace,
  byOutput: Int32Array,
  batchSize: number,
): { readonly batchOf: Int32Array; readonly longest: number } {
  const batchOf = new Int32Array(byOutput.length).fill(-1);
  let batch = -1;
  let longest = 1;
  for (const { start, end } of runs) {
    let taken = batchSize;
    let length = 0;
    for (let output = outputAt(instants, start); output <= outputAt(instants, end - 1); output++) {
      const wanted = (byOutput[output + 1] ?? 0) - (byOutput[output] ?? 0);
      // A frame without an instant waits for a later one, which must find room.
      if (taken + Math.max(1, wanted) > batchSize) {
        batch++;
        taken = 0;
        length = 0;
      }
      taken += wanted;
      batchOf[output] = batch;
      longest = Math.max(longest, ++length);
    }
  }
  return { batchOf, longest };
}

function outputAt(instants: Pace['instants'], instant: number): number {
  return instants[instant]?.output ?? -1;
}

/** The generated crops that frames are still to show. */
function createCrops({ instants, places }: Pace, generator: Pick<Generator, 'side' | 'shown' | 'give'>) {
  const crops = new Map<number, Floats>();
  /** How many frames are still to show the crop of each instant. */
  const uses = new Uint16Array(instants.length);
  const inBetween = createInBetween(generator.side, generator.shown);
  /** The memory of a crop between two others, which is pasted at once. */
  const mixed = new Float32Array(3 * generator.side ** 2);
  const around = (place: number): readonly number[] =>
    Number.isInteger(place) ? [place] : [Math.floor(place), Math.ceil(place)];
  for (const place of places)
    if (place >= 0) for (const instant of around(place)) uses[instant] = (uses[instant] ?? 0) + 1;

  const cropOf = (instant: number): Floats => {
    const crop = crops.get(instant);
    if (!crop) throw new RangeError(`the face of instant ${instant} is not generated`);
    return crop;
  };
  return {
    add(generated: ImagesByInstant): void {
      for (const [instant, crop] of generated) crops.set(instant, crop);
    },
    /** The crop that a frame shows; one between two instants is valid until the next call. */
    at(place: number): Floats {
      const from = cropOf(Math.floor(place));
      if (Number.isInteger(place)) return from;
      const to = cropOf(Math.ceil(place));
      inBetween(from, to, place % 1, mixed);
      return mixed;
    },
    /** A frame has shown its face. */
    release(place: number): void {
      for (const instant of around(place)) {
        const left = (uses[instant] ?? 0) - 1;
        uses[instant] = left;
        if (left > 0) continue;
        generator.give(cropOf(instant));
        crops.delete(instant);
      }
    },
  };
}
