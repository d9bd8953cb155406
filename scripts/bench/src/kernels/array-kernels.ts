import { type createCropFace, type createPasteFace } from '@lipsync/lipsync';
import { type FaceScene } from './face-scene';
import { type KernelAlternative } from './kernel-alternative';

/**
 * Crop and paste on typed arrays, with the product's kernels or with the plain ones that serve as their test reference.
 */
export function arrayKernels(
  scene: FaceScene,
  create: { readonly cropFace: typeof createCropFace; readonly pasteFace: typeof createPasteFace },
): KernelAlternative {
  const { format, picture, box, face, mask, side } = scene;
  const crop = create.cropFace(format, side);
  const paste = create.pasteFace(format, side);
  const target = new Float32Array(3 * side * side);
  const frame = picture.slice();
  return {
    crop: () => crop(picture, box, target, 0),
    paste: () => paste(frame, box, face, 0, mask),
  };
}
