/**
 * Blurs the rows, then the columns of a square float32 grid, in place. Outside the grid counts as 0. Each half of a
 * kernel holds `radius` + 1 weights, the middle one first. Rows outside [from, to) contain only zeros on entry. `size`
 * is a multiple of four. `between` has room for a grid, `line` for a row and the radius on both sides.
 */
export function blurSquare(
  grid: usize,
  size: i32,
  from: i32,
  to: i32,
  rowHalf: usize,
  rowRadius: i32,
  columnHalf: usize,
  columnRadius: i32,
  between: usize,
  line: usize,
): void {
  const rowBytes = (<usize>size) << 2;
  const margin = (<usize>rowRadius) << 2;
  memory.fill(line, 0, rowBytes + 2 * margin);
  for (let y = from; y < to; y++) {
    memory.copy(line + margin, grid + <usize>y * rowBytes, rowBytes);
    const target = between + <usize>y * rowBytes;
    for (let x: usize = 0; x < rowBytes; x += 16) {
      const center = line + margin + x;
      let sum = f32x4.mul(v128.load(center), v128.load32_splat(rowHalf));
      for (let d: usize = 4; d <= margin; d += 4) {
        const sides = f32x4.add(v128.load(center - d), v128.load(center + d));
        sum = f32x4.add(sum, f32x4.mul(sides, v128.load32_splat(rowHalf + d)));
      }
      v128.store(target + x, sum);
    }
  }
  for (let y = 0; y < size; y++) {
    const target = grid + <usize>y * rowBytes;
    const first = max<i32>(from, y - columnRadius);
    const last = min<i32>(to - 1, y + columnRadius);
    for (let x: usize = 0; x < rowBytes; x += 16) {
      let sum = f32x4.splat(0);
      for (let row = first; row <= last; row++) {
        const weight = v128.load32_splat(columnHalf + ((<usize>abs<i32>(row - y)) << 2));
        sum = f32x4.add(sum, f32x4.mul(v128.load(between + <usize>row * rowBytes + x), weight));
      }
      v128.store(target + x, sum);
    }
  }
}
