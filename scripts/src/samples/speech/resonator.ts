/**
 * A two-pole filter that resonates at one frequency: one formant of the vocal tract. Its gain at 0 Hz is 1, so that
 * resonators in series shape a spectrum without changing its overall level.
 */
export class Resonator {
  private last = 0;
  private beforeLast = 0;

  constructor(private readonly sampleRate: number) {}

  /** `frequency` and `bandwidth` in hertz; both may change with every sample. */
  filter(input: number, frequency: number, bandwidth: number): number {
    const radius = Math.exp((-Math.PI * bandwidth) / this.sampleRate);
    const feedback1 = 2 * radius * Math.cos((2 * Math.PI * frequency) / this.sampleRate);
    const feedback2 = -radius * radius;
    const output = (1 - feedback1 - feedback2) * input + feedback1 * this.last + feedback2 * this.beforeLast;
    this.beforeLast = this.last;
    this.last = output;
    return output;
  }
}
