import { type createCropFace, type createPasteFace } from '@lipsync/lipsync';
import { type FaceScene } from './face-scene';
import { type KernelAlternative } from './kernel-alternative';

/** The work by kernels on typed arrays: those of the product, or the plain ones that they are tested against. */
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
