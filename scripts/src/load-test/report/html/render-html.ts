import { type LoadTestReport } from '../report';
export function renderHtml(report: LoadTestReport): string {
  return report.summary;
}
