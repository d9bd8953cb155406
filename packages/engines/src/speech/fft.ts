/** One Stockham pass: combines `radix` sub-transforms of length `done` into one of length done·radix. */
interface Pass {
  readonly radix: number;
  readonly done: number;
  readonly rest: number;
  /** e^{−2πi·k·j/(done·radix)}, indexed [k·radix + j]. */
  readonly twiddleRe: Float64Array;
  readonly twiddleIm: Float64Array;
  /** The DFT matrix of size `radix`. */
  readonly dftRe: Float64Array;
  readonly dftIm: Float64Array;
  /** The input of the next pass. */
  readonly termRe: Float64Array;
  readonly termIm: Float64Array;
}

interface ComplexSpectrum {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/**
 * A forward complex DFT of length product(radices) in double precision. The returned function reads its arguments and
 * returns arrays that its next call overwrites. Lengths such as 200 = 5·5·4·2 need no padding to a power of two.
 */
export function createComplexFft(
  radices: readonly number[],
): (re: Float64Array, im: Float64Array) => ComplexSpectrum {
  const length = radices.reduce((product, radix) => product * radix, 1);
  const passes = planPasses(length, radices);
  const ping = { re: new Float64Array(length), im: new Float64Array(length) };
  const pong = { re: new Float64Array(length), im: new Float64Array(length) };
  return (re, im) => {
    let source: ComplexSpectrum = { re, im };
    for (let p = 0; p < passes.length; p++) {
      const pass = passes[p];
      if (pass === undefined) break;
      const target = p % 2 === 0 ? ping : pong;
      runPass(pass, source, target);
      source = target;
    }
    return source;
  };
}

function planPasses(length: number, radices: readonly number[]): Pass[] {
  const passes: Pass[] = [];
  let done = 1;
  for (const radix of radices) {
    const [twiddleRe, twiddleIm] = roots(done, radix, (k, j) => (k * j) / (done * radix));
    const [dftRe, dftIm] = roots(radix, radix, (k, j) => ((k * j) % radix) / radix);
    passes.push({
      radix,
      done,
      rest: length / (done * radix),
      twiddleRe,
      twiddleIm,
      dftRe,
      dftIm,
      termRe: new Float64Array(radix),
      termIm: new Float64Array(radix),
    });
    done *= radix;
  }
  return passes;
}

function roots(rows: number, columns: number, turns: (row: number, column: number) => number) {
  const re = new Float64Array(rows * columns);
  const im = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const angle = -2 * Math.PI * turns(row, column);
      re[row * columns + column] = Math.cos(angle);
      im[row * columns + column] = Math.sin(angle);
    }
  }
  return [re, im] as const;
}

function runPass(pass: Pass, source: ComplexSpectrum, target: ComplexSpectrum): void {
  const { radix, done, rest, twiddleRe, twiddleIm, dftRe, dftIm, termRe, termIm } = pass;
  const { re, im } = source;
  const { re: outRe, im: outIm } = target;
  for (let k = 0; k < done; k++) {
    for (let q = 0; q < rest; q++) {
      for (let j = 0; j < radix; j++) {
        const x = re[q + rest * (j + radix * k)] ?? 0;
        const y = im[q + rest * (j + radix * k)] ?? 0;
        const c = twiddleRe[k * radix + j] ?? 0;
        const s = twiddleIm[k * radix + j] ?? 0;
        termRe[j] = x * c - y * s;
        termIm[j] = x * s + y * c;
      }
      for (let a = 0; a < radix; a++) {
        let sumRe = 0;
        let sumIm = 0;
        for (let b = 0; b < radix; b++) {
          const x = termRe[b] ?? 0;
          const y = termIm[b] ?? 0;
          const c = dftRe[a * radix + b] ?? 0;
          const s = dftIm[a * radix + b] ?? 0;
          sumRe += x * c - y * s;
          sumIm += x * s + y * c;
        }
        outRe[q + rest * (k + done * a)] = sumRe;
        outIm[q + rest * (k + done * a)] = sumIm;
      }
    }
  }
}
