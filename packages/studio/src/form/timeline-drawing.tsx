import './timeline-drawing.css';
import { type JSX } from 'preact';
import { type Segment, type TimelinePicture } from '../shared/timeline-picture';

const WIDTH = 240;
const ROW = 14;
const GAP = 5;

/**
 * Two tracks, video above voice, and a line where the output ends. Decoration: the words beside it say the same, and
 * what matters of it is said by `label` where there is one.
 */
export function TimelineDrawing({
  picture,
  label,
}: {
  picture: TimelinePicture;
  label?: string;
}): JSX.Element {
  const scale = WIDTH / picture.totalSeconds;
  const end = picture.outputSeconds * scale;
  return (
    <svg
      class="timeline"
      viewBox={`-1 -3 ${WIDTH + 2} ${2 * ROW + GAP + 6}`}
      preserveAspectRatio="none"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      {picture.video.map((segment) => (
        <Piece key={segment.from} segment={segment} scale={scale} top={0} track="video" />
      ))}
      {picture.voice.map((segment) => (
        <Piece key={segment.from} segment={segment} scale={scale} top={ROW + GAP} track="voice" />
      ))}
      {end < 0.98 * WIDTH && <path class="timeline-end" d={`M${end} -3V${2 * ROW + GAP + 3}`} />}
    </svg>
  );
}

interface PieceProps {
  segment: Segment;
  scale: number;
  top: number;
  track: 'video' | 'voice';
}

function Piece({ segment: { kind, from, to }, scale, top, track }: PieceProps): JSX.Element {
  const left = from * scale + 0.75;
  const width = Math.max(1, (to - from) * scale - 1.5);
  return (
    <g class={`timeline-${track} timeline-${kind}`}>
      <rect x={left} y={top} width={width} height={ROW} rx={Math.min(3, width / 2)} />
      {width > 16 && <path class="timeline-mark" d={mark(kind, left + width / 2, top + ROW / 2, width)} />}
    </g>
  );
}

/** An arrow in the direction that the video plays; dashes where it is stretched. */
function mark(kind: Segment['kind'], x: number, y: number, width: number): string {
  switch (kind) {
    case 'forward':
      return `M${x - 2} ${y - 3}l4 3-4 3`;
    case 'backward':
      return `M${x + 2} ${y - 3}l-4 3 4 3`;
    case 'stretched': {
      const reach = Math.min(30, width / 2 - 6);
      return `M${x - reach + 4} ${y - 3}l-4 3 4 3M${x - reach} ${y}H${x + reach}M${x + reach - 4} ${y - 3}l4 3-4 3`;
    }
    case 'held':
      return `M${x - 2} ${y - 3}v6M${x + 2} ${y - 3}v6`;
    case 'silent':
    case 'unused':
      return '';
  }
}
