import { Markup, markup } from '../charts/markup';
import { type ChartPanel, type Dashboard } from './dashboard-file';
import { drawHeatmap } from './draw-heatmap';
import { drawStat } from './draw-stat';
import { drawTimeseries } from './draw-timeseries';
import { nameSeries } from './panel-data';
import { type Series } from './prometheus-client';
import { type TimeRange } from './time-range';

export interface PageSource {
  /** Queries an expression of the dashboard over the range, with its variables replaced. */
  readonly run: (expr: string) => Promise<Series[]>;
  /** Replaces the variables in a title. */
  readonly title: (text: string) => string;
  /** Name of the data source. */
  readonly name: string;
}

const STYLE = `
  body { font: 13px/1.4 system-ui, sans-serif; color: #1f2328; background: #f4f5f5; margin: 16px; }
  h1 { font-size: 20px; margin: 0 0 2px; } h2 { font-size: 15px; margin: 18px 0 6px; }
  .grid24 { display: grid; grid-template-columns: repeat(24, 1fr); gap: 8px; }
  .panel { background: #fff; border: 1px solid #d8dade; border-radius: 4px; padding: 6px 8px; min-width: 0; }
  .panel h3 { font-size: 13px; font-weight: 600; margin: 0 0 2px; } .note { color: #6a7076; font-size: 11px; margin: 0 0 2px; }
  svg { width: 100%; height: auto; display: block; } .spark { height: 24px; }
  .grid { stroke: #e7e8ea; } .limit { stroke: #c62828; stroke-dasharray: 4 3; } .tick { font-size: 9.5px; fill: #6a7076; }
  .stat { font-size: 26px; font-weight: 600; text-align: center; margin: 4px 0 0; }
  table { width: 100%; border-collapse: collapse; font-size: 11px; } th { font-weight: 400; text-align: left; }
  td { text-align: right; white-space: nowrap; padding-left: 8px; color: #444; width: 1%; } thead td { color: #8a9096; }
  th i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 5px; }
  .empty { color: #8a9096; text-align: center; padding: 60px 0; }`;

/** The whole dashboard as one self-contained page. */
export async function drawPage(dashboard: Dashboard, source: PageSource, range: TimeRange): Promise<string> {
  const rows: Markup[] = [];
  for (const { title, panels } of rowsOf(dashboard)) {
    const drawn: Markup[] = [];
    // In sequence, because the server may be a small one.
    for (const panel of panels) drawn.push(await drawPanel(panel, source, range));
    const heading = title === null ? null : markup`<h2>${source.title(title)}</h2>`;
    rows.push(markup`${heading}<div class="grid24">${drawn}</div>\n`);
  }
  const [from = '', to = ''] = [range.from, range.to].map((at) =>
    new Date(at * 1000).toISOString().slice(0, 19),
  );
  const page = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${dashboard.title}</title><style>${new Markup(STYLE)}</style></head>
<body><h1>${dashboard.title}</h1>
<p class="note">${from} to ${to} UTC, a point every ${range.step} s, from ${source.name}</p>
${rows}</body></html>
`;
  return page.text;
}

interface Row {
  /** Null for the panels before the first row. */
  readonly title: string | null;
  readonly panels: ChartPanel[];
}

function rowsOf({ panels }: Dashboard): Row[] {
  let row: Row = { title: null, panels: [] };
  const rows = [row];
  for (const panel of panels)
    if (panel.type === 'row') rows.push((row = { title: panel.title, panels: [] }));
    else row.panels.push(panel);
  return rows.filter((each) => each.panels.length > 0);
}

async function drawPanel(panel: ChartPanel, { run }: PageSource, range: TimeRange): Promise<Markup> {
  const { title, description, gridPos, fieldConfig, options, targets } = panel;
  const answers = await Promise.all(
    targets.map(async ({ expr, legendFormat }) => ({ legendFormat, series: await run(expr) })),
  );
  const named = answers
    .flatMap(({ legendFormat, series }) => series.map((each) => nameSeries(each, legendFormat)))
    .filter(({ values }) => values.some((value) => !Number.isNaN(value)));
  const draw = (): Markup => {
    if (named.length === 0) return markup`<p class="empty">no data</p>`;
    switch (panel.type) {
      case 'timeseries':
        return drawTimeseries(named, fieldConfig.defaults, range, gridPos.w);
      case 'stat':
        return drawStat(named, fieldConfig.defaults);
      case 'heatmap':
        return drawHeatmap(
          answers.flatMap(({ series }) => series),
          options.yAxis?.unit ?? 's',
          range,
          gridPos.w,
        );
    }
  };
  const note =
    description === undefined || description === '' ? null : markup`<p class="note">${description}</p>`;
  return markup`<div class="panel" style="grid-column: span ${gridPos.w}"><h3>${title}</h3>${note}${draw()}</div>`;
}
