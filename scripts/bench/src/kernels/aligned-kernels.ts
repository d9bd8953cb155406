import { type createAlignedCrop, type createAlignedPaste } from '@lipsync/lipsync';
import { type AlignedScene } from './aligned-scene';
import { type KernelAlternative } from './kernel-alternative';

/**
 * Crop and paste for a rotated face, with the product's kernels or with the plain ones that serve as their test
 * reference.
 */
export function alignedKernels(
  { format, picture, transform, mask, face, side }: AlignedScene,
  create: { readonly crop: typeof createAlignedCrop; readonly paste: typeof createAlignedPaste },
): KernelAlternative {
  const crop = create.crop(format, side);
  const paste = create.paste(format, side, mask);
  const target = new Float32Array(3 * side * side);
  const frame = picture.slice();
  return {
    crop: () => crop(picture, transform, target, 0),
    paste: () => paste(frame, transform, face, 0),
  };
}
