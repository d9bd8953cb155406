import path from 'node:path';
import { REPOSITORY_ROOT } from '@lipsync/local-stack';

const CHART_FILES = path.join(REPOSITORY_ROOT, 'deploy', 'helm', 'lipsync', 'files');

/** Grafana's dashboard and Prometheus' rules, at the location that the chart uses. */
export const DASHBOARD_FILE = path.join(CHART_FILES, 'lipsync-dashboard.json');
export const RULES_FILE = path.join(CHART_FILES, 'lipsync.rules.yaml');
