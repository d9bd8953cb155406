import { type Readable } from 'node:stream';
import { PRINTED_TIME } from './decoder-arguments';

/**
 * The times that a decoder reports, in order. They are taken in as they come, whether or not anybody asks: a decoder
 * that cannot report stands still.
 */
export class PictureTimes {
  private readonly known: number[] = [];
  private given = 0;
  private incomplete = '';
  private ended = false;
  private onNews: () => void = () => undefined;

  constructor(report: Readable) {
    report.setEncoding('latin1').on('data', (text: string) => this.add(text));
    report.on('error', () => undefined).once('close', () => this.end());
  }

  /** The next time, once it is known; NaN for a picture without, undefined after the last. One call at a time. */
  async next(): Promise<number | undefined> {
    if (this.given === this.known.length && !this.ended) {
      await new Promise<void>((resolve) => (this.onNews = resolve));
    }
    const time = this.known[this.given];
    if (time !== undefined) this.given += 1;
    return time;
  }

  private add(text: string): void {
    const lines = (this.incomplete + text).split('\n');
    this.incomplete = lines.pop() ?? '';
    for (const line of lines) {
      const time = PRINTED_TIME.exec(line)?.[1];
      if (time !== undefined) this.known.push(Number(time));
    }
    if (this.given < this.known.length) this.onNews();
  }

  private end(): void {
    this.ended = true;
    this.onNews();
  }
}
