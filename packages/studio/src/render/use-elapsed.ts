import { type RenderRecord } from '@lipsync/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { serviceNow } from '../session/service-clock';
import { type Observation, secondsLeft } from './expected-time';

/** Seconds since a render was created, and those that are left by its own pace; updated every second. */
export function useElapsed({ created_at: createdAt, engines }: RenderRecord): {
  elapsed: number;
  left: number | null;
} {
  const seen = useRef<Observation[]>([]);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => void seen.current.push({ atMs: Date.now(), engines }), [engines]);
  return { elapsed: (serviceNow() - Date.parse(createdAt)) / 1000, left: secondsLeft(seen.current, now) };
}
