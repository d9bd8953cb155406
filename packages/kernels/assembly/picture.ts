/**
 * A picture of bytes or words, by an address where its place is written: the addresses of the planes Y, U and V, then
 * the bytes per row of luma and of chroma; five int32. Columns and rows are those of pixels, also for chroma, and even
 * there.
 */
export function lumaAt<T>(picture: usize, column: i32, row: i32): usize {
  return <usize>(load<i32>(picture) + row * strideOf(picture)) + <usize>column * sizeof<T>();
}

export function uAt<T>(picture: usize, column: i32, row: i32): usize {
  return <usize>load<i32>(picture, 4) + chromaOffset<T>(picture, column, row);
}

export function vAt<T>(picture: usize, column: i32, row: i32): usize {
  return <usize>load<i32>(picture, 8) + chromaOffset<T>(picture, column, row);
}

export function strideOf(picture: usize): i32 {
  return load<i32>(picture, 12);
}

function chromaOffset<T>(picture: usize, column: i32, row: i32): usize {
  return <usize>((row >> 1) * load<i32>(picture, 16)) + <usize>(column >> 1) * sizeof<T>();
}
