import { expectBytes, type ExpectedRole, expectFloats, type PackRole } from '@lipsync/model-pack';
import { type z } from 'zod';
import { LANDMARK_COUNT, LANDMARK_VALUES } from './face/landmarks';
import { EXEMPLAR_BYTES, EXEMPLAR_SIDE, EXEMPLARS, type MouthExemplars } from './face/mouth-exemplars';
import { type ArrayPool, float32Tensor, type Tensors } from './model';

/**
 * The inputs by which a generator sees the clip's own mouth, for packs that declare them: the pictures, by rising
 * opening, and the 68 landmarks in pixels of each. They are those of one look, so that a call holds faces of one.
 */
export const EXEMPLAR_INPUTS = ['exemplars', 'exemplar_landmarks'] as const;

/** Their shapes: uint8 and float32. */
export const EXEMPLAR_DIMS = {
  exemplars: [EXEMPLARS, 3, EXEMPLAR_SIDE, EXEMPLAR_SIDE],
  exemplar_landmarks: [EXEMPLARS, LANDMARK_COUNT, 2],
};

/** What manifests must declare, if they declare them. */
export const EXPECTED_EXEMPLARS = {
  exemplars: expectBytes(...EXEMPLAR_DIMS.exemplars),
  exemplar_landmarks: expectFloats(...EXEMPLAR_DIMS.exemplar_landmarks),
} satisfies ExpectedRole['inputs'];

/** Adds an issue to a manifest whose role declares one of the inputs without the other. */
export function refuseHalfExemplars(context: z.RefinementCtx, role: string, { inputs }: PackRole): void {
  if ((inputs['exemplars'] === undefined) === (inputs['exemplar_landmarks'] === undefined)) return;
  const message = 'exemplars and their landmarks are declared together';
  context.addIssue({ code: 'custom', path: ['roles', role, 'inputs'], message });
}

/** Whether a generator asks for exemplars. */
export function asksForExemplars({ inputs }: PackRole): boolean {
  return inputs['exemplars'] !== undefined;
}

/** Yields the feeds of these inputs, in arrays of the pool: zeros for a clip without exemplars. */
export function createExemplarFeeds(role: PackRole, pool: ArrayPool): (mouths: MouthExemplars) => Tensors {
  if (!asksForExemplars(role)) return () => ({});
  return ({ pictures, landmarks }) => {
    const bytes = pool.takeBytes(EXEMPLARS * EXEMPLAR_BYTES);
    const points = pool.take(EXEMPLARS * LANDMARK_VALUES);
    bytes.set(pictures);
    points.set(landmarks);
    return {
      exemplars: { type: 'uint8', dims: EXEMPLAR_DIMS.exemplars, data: bytes },
      exemplar_landmarks: float32Tensor(points, EXEMPLAR_DIMS.exemplar_landmarks),
    };
  };
}
