import { useEffect, useState } from 'preact/hooks';
import { type Transport, type TransportState } from './transport';

/** Part of the transport's state; renders again when that part changes, not whenever a frame passes. */
export function useTransport<Part>(transport: Transport, select: (state: TransportState) => Part): Part {
  const [part, setPart] = useState(() => select(transport.state));
  useEffect(() => {
    // A function would be taken for an updater.
    const update = (): void => setPart(() => select(transport.state));
    update();
    return transport.subscribe(update);
    // Selections are the same at every rendering.
  }, [transport]);
  return part;
}
