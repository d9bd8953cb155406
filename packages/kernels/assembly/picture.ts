/**
 * A yuv420p picture, by an address where its place is written: the addresses of the planes Y, U and V, then the bytes
 * per row of luma and of chroma; five int32. Columns and rows are those of pixels, also for chroma, and even there.
 */
export function lumaAt(picture: usize, column: i32, row: i32): usize {
  return <usize>(load<i32>(picture) + row * strideOf(picture) + column);
}

export function uAt(picture: usize, column: i32, row: i32): usize {
  return <usize>(load<i32>(picture, 4) + chromaOffset(picture, column, row));
}

export function vAt(picture: usize, column: i32, row: i32): usize {
  return <usize>(load<i32>(picture, 8) + chromaOffset(picture, column, row));
}

export function strideOf(picture: usize): i32 {
  return load<i32>(picture, 12);
}

function chromaOffset(picture: usize, column: i32, row: i32): i32 {
  return (row >> 1) * load<i32>(picture, 16) + (column >> 1);
}
