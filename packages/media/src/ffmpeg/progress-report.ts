/** The last `frame=` value in the output of `ffmpeg -progress`; 0 when there is none. */
export function lastProgressFrame(report: string): number {
  const last = report.lastIndexOf('frame=');
  return last < 0 ? 0 : Number.parseInt(report.slice(last + 'frame='.length).trimStart(), 10) || 0;
}
