import { type Markup, markup, table } from './markup';
import { type ErrorReport, type LoadTestReport } from './report';
import { clockTime, milliseconds, percent, perSecond, significant, whole } from './summary';

const BAR_WIDTH = 160;

export function errorSection({ errors }: LoadTestReport): Markup {
  if (errors.length === 0)
    return markup`<h2>Errors and refusals</h2><p class="note">Every request that was measured was answered with success.</p>`;
  const most = Math.max(...errors.map(({ count }) => count));
  const bar = ({ count, class: kind }: ErrorReport): Markup =>
    markup`<span class="bar ${kind}" style="width:${Math.max(2, Math.round((count / most) * BAR_WIDTH))}px"></span>${whole(count)}`;
  return markup`<h2>Errors and refusals</h2>
${table(errors, [
  { head: 'Operation', cell: ({ operation }) => markup`<code>${operation}</code>` },
  { head: 'Class', cell: (error) => CLASSES[error.class] ?? error.class },
  { head: 'Status', cell: ({ status }) => (status === null ? '–' : String(status)) },
  { head: 'Code', cell: ({ code }) => markup`<code>${code ?? '–'}</code>` },
  { head: 'Retryable', cell: ({ retryable }) => (retryable === null ? '–' : retryable ? 'yes' : 'no') },
  { head: 'Count', cell: bar },
])}`;
}

const CLASSES: Readonly<Record<string, string>> = {
  expected: 'expected here',
  limited: 'refused by a limit',
  refused: 'refused',
  unavailable: 'unavailable',
  transport: 'no answer',
  out_of_contract: 'not in the contract',
};

export function checkSection({ checks }: LoadTestReport): Markup {
  return markup`<h2>Checks</h2>
${table(checks, [
  {
    head: 'Result',
    cell: ({ state }) => markup`<span class="state ${state}">${SIGNS[state]} ${state}</span>`,
  },
  {
    head: 'What must hold',
    cell: ({ title, note, examples }) =>
      markup`${title}${note === null ? null : markup`<div class="note">${note}</div>`}${
        examples.length === 0
          ? null
          : markup`<ul class="examples">${examples.map((example) => markup`<li><code>${example}</code></li>`)}</ul>`
      }`,
  },
  {
    head: 'Examined',
    isNumber: true,
    cell: ({ state, examined }) => (state === 'skipped' ? '–' : whole(examined)),
  },
  {
    head: 'Failures',
    isNumber: true,
    cell: ({ state, failures }) => (state === 'skipped' ? '–' : whole(failures)),
  },
])}`;
}

const SIGNS = { passed: '✓', failed: '✗', skipped: '–' } as const;

export function setUpSection({ config, machine, generator, target }: LoadTestReport): Markup {
  const { lag_ms } = generator;
  const facts: [string, string][] = [
    ['Target', `${target.base_url}: ${target.description}, ${target.customers} customers`],
    [
      'Machine',
      `${machine.cpus} × ${machine.cpu ?? 'unknown processor'}, ${machine.memory_gib} GiB, ${machine.os}, Node ${machine.node}; ${
        machine.shared_with_service ? 'harness and service share it' : 'of the harness alone'
      }`,
    ],
    [
      'Lateness of the harness',
      lag_ms === null
        ? 'nothing was sent'
        : `p50 ${milliseconds(lag_ms.p50)}, p99 ${milliseconds(lag_ms.p99)}, max ${milliseconds(lag_ms.max)}; it is part of every latency`,
    ],
    [
      'Memory of the harness',
      `${significant(generator.peak_rss_mib)} MiB at most; ${whole(generator.in_flight_peak)} callers under way at most, of ${whole(config.max_in_flight)} that might be`,
    ],
    ...config.streams.map(
      ({ name, arrivals, rate_per_second, burst_size, mix, announces }): [string, string] => [
        `Callers of ${name}`,
        `${
          arrivals === 'at-once'
            ? `${burst_size} at once`
            : `${perSecond(rate_per_second)}${burst_size > 1 ? ` in bursts of ${burst_size}` : ''}`
        }: ${Object.entries(mix)
          .map(([journey, weight]) => `${journey} ${weight}`)
          .join(', ')}${announces ? '; announced by webhook' : ''}`,
      ],
    ),
    [
      'Time',
      `warm-up ${clockTime(config.warm_up_seconds)}, measured ${clockTime(config.duration_seconds)}, drain at most ${clockTime(config.drain_seconds)}${generator.stopped_early ? '; stopped early by hand' : ''}`,
    ],
    [
      'Renders',
      `${config.engines.join(' or ')}, ${config.sync_modes.join(' or ')}; ${config.video} and ${config.audio}, uploaded ${config.media === 'once' ? 'before the run' : 'by each render'}`,
    ],
    [
      'Requests',
      `${config.connections} connections to each origin, ${config.timeout_seconds} s of patience; renders polled every ${config.poll_interval_seconds} s, at most ${perSecond(config.polls_per_second)}`,
    ],
    ['Tolerated failures', percent(config.max_failure_ratio)],
    ['Seed', String(config.seed)],
  ];
  return markup`<h2>How it was measured</h2>
<dl class="facts">${facts.map(([name, text]) => markup`<dt>${name}</dt><dd>${text}</dd>`)}</dl>`;
}
