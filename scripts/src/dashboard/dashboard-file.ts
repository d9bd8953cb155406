import { readFileSync } from 'node:fs';

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
}

/** The part of Grafana's panel model (schema 42) that this project's dashboard uses. */
export interface ChartPanel {
  readonly type: 'timeseries' | 'stat' | 'heatmap';
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: { readonly defaults: FieldDefaults };
  readonly options: { readonly yAxis?: { readonly unit?: string } };
  readonly targets: readonly Target[];
}

export interface FieldDefaults {
  readonly unit?: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly custom?: { readonly stacking?: { readonly mode: string }; readonly thresholdsStyle?: unknown };
  readonly thresholds?: { readonly steps: readonly ThresholdStep[] };
}

export interface ThresholdStep {
  readonly color: string;
  /** Null: from the lowest value on. */
  readonly value: number | null;
}

export interface RowPanel {
  readonly type: 'row';
  readonly title: string;
}

export interface Dashboard {
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
  readonly panels: readonly (ChartPanel | RowPanel)[];
}

/** Reads a dashboard and refuses panel types that cannot be drawn. */
export function readDashboard(file: string): Dashboard {
  const dashboard = JSON.parse(readFileSync(file, 'utf8')) as Dashboard;
  for (const { type, title } of dashboard.panels)
    if (!['row', 'timeseries', 'stat', 'heatmap'].includes(type))
      throw new Error(`${title}: a panel of type ${type} cannot be drawn`);
  return dashboard;
}
