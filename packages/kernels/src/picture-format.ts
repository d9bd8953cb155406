export type ColourMatrix = 'bt601' | 'bt709';
export type ColourRange = 'limited' | 'full';

/** The layout of a planar yuv420p picture: luma, then the two chroma planes of ceil(width/2) × ceil(height/2). */
export interface PictureFormat {
  readonly width: number;
  readonly height: number;
  readonly matrix: ColourMatrix;
  readonly range: ColourRange;
}

/** Offsets and sizes of the three planes inside one picture, in bytes. */
export interface PictureLayout {
  readonly chromaWidth: number;
  readonly chromaHeight: number;
  readonly uOffset: number;
  readonly vOffset: number;
  readonly bytes: number;
}

export function pictureLayout({ width, height }: Pick<PictureFormat, 'width' | 'height'>): PictureLayout {
  const chromaWidth = (width + 1) >> 1;
  const chromaHeight = (height + 1) >> 1;
  const uOffset = width * height;
  const vOffset = uOffset + chromaWidth * chromaHeight;
  return { chromaWidth, chromaHeight, uOffset, vOffset, bytes: vOffset + chromaWidth * chromaHeight };
}
