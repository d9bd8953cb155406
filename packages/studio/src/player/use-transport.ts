import { useEffect, useState } from 'preact/hooks';
import { type Transport, type TransportState } from './transport';

/** Renders again whenever the transport moves. */
export function useTransport(transport: Transport): TransportState {
  const [state, setState] = useState(transport.state);
  useEffect(() => {
    const update = (): void => setState(transport.state);
    update();
    return transport.subscribe(update);
  }, [transport]);
  return state;
}
