import { faultsOf } from './faults';
import { type Fidelity } from './measure-case';

const COLUMNS = [
  ...['case', 'engine', 'dropped', 'repeated', 'held', 'moved ms', 'judder ms', 'dB outside', 'SSIM', 'bits'],
  ...['codes', 'combing', 'sound ms', 'sound dB', 'faults'],
];

/** The results as a table of Markdown. */
export function tableOf(results: readonly Fidelity[]): string {
  const rows = [COLUMNS, COLUMNS.map(() => '---'), ...results.map(rowOf)];
  return rows.map((row) => `| ${row.join(' | ')} |\n`).join('');
}

function rowOf(result: Fidelity): string[] {
  const { output } = result;
  const faults = faultsOf(result).join('; ') || 'none';
  const start = [result.case, result.engine];
  if (output === undefined) return [...start, ...COLUMNS.slice(3).map(() => ''), faults];
  const { pictures, outside_face: outside, luma_codes: codes, combing, sound, video } = output;
  const percent = (part: number): string => (100 * part).toFixed(2);
  return [
    ...start,
    ...[`${pictures.dropped} of ${pictures.expected}`, `${pictures.repeated}`, `${pictures.held}`],
    ...[`${pictures.moved_ms}`, `${pictures.judder_ms}`],
    ...[outside?.psnr_db.toFixed(1) ?? '', outside?.ssim.toFixed(4) ?? ''],
    ...[`${video?.depth} ${video?.codec}`, `${codes.source} → ${codes.output}`],
    ...[`${percent(combing.source)} → ${percent(combing.output)} %`],
    ...[`${sound?.offset_ms ?? ''}`, sound?.snr_db.toFixed(1) ?? '', faults],
  ];
}
