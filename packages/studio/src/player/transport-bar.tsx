import { endOf, secondsAt } from '@lipsync/domain/clock';
import { type JSX } from 'preact';
import { Icon, type IconName } from '../shared/icons';
import { timeText } from './time-text';
import { type Transport } from './transport';
import { useTransport } from './use-transport';

const SPEEDS = [0.1, 0.25, 0.5, 1, 1.5, 2] as const;

/** Play, step, speed, repeat, and where we are. */
export function TransportBar({
  transport,
  onHelp,
}: {
  transport: Transport;
  onHelp: () => void;
}): JSX.Element {
  const { playing, frame, frames, speed, looping } = useTransport(transport, (state) => state);
  return (
    <div class="transport" role="group" aria-label="Transport">
      <div class="transport-side">
        <p class="number transport-time">
          <strong>{timeText(secondsAt(transport.clock, frame))}</strong>
          <span class="soft"> / {timeText(endOf(transport.clock))}</span>
        </p>
        <p class="number soft small transport-frame">
          frame {frame + 1} of {frames}
        </p>
      </div>
      <div class="transport-keys">
        <Key label="First frame" icon="first" onClick={() => transport.seek(0)} />
        <Key label="Frame back" icon="previous" onClick={() => transport.step(-1)} />
        <button
          type="button"
          class="button button-primary transport-play"
          aria-label={playing ? 'Pause' : 'Play'}
          onClick={() => transport.toggle()}
        >
          <Icon name={playing ? 'pause' : 'play'} size={22} />
        </button>
        <Key label="Frame forward" icon="next" onClick={() => transport.step(1)} />
        <Key label="Last frame" icon="last" onClick={() => transport.seek(frames - 1)} />
      </div>
      <div class="transport-side transport-side-end">
        <Key label="Repeat" icon="repeat" pressed={looping} onClick={() => transport.setLooping(!looping)} />
        <select
          class="select number"
          aria-label="Speed"
          value={speed}
          onChange={(event) => transport.setSpeed(Number(event.currentTarget.value))}
        >
          {SPEEDS.map((value) => (
            <option key={value} value={value}>
              {value}×
            </option>
          ))}
        </select>
        <Key label="Keyboard shortcuts" icon="keyboard" onClick={onHelp} />
      </div>
    </div>
  );
}

interface KeyProps {
  label: string;
  icon: IconName;
  pressed?: boolean;
  onClick: () => void;
}

function Key({ label, icon, pressed, onClick }: KeyProps): JSX.Element {
  return (
    <button
      type="button"
      class="button button-quiet button-icon"
      aria-label={label}
      title={label}
      data-key={icon}
      {...(pressed === undefined ? {} : { 'aria-pressed': pressed })}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
