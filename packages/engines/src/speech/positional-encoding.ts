/**
 * The fixed sine/cosine position code [length, width], row-major: even columns sin(pos·w), odd columns cos(pos·w) with
 * w = 10000^(−2k/width) for column pair k.
 */
export function positionalEncoding(length: number, width: number): Float32Array<ArrayBuffer> {
  const out = new Float32Array(length * width);
  for (let position = 0; position < length; position++) {
    for (let column = 0; column < width; column++) {
      const pair = column - (column % 2);
      const angle = position * Math.exp((-pair * Math.log(10_000)) / width);
      out[position * width + column] = column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    }
  }
  return out;
}
