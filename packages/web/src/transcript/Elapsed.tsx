import { useEffect, useState } from 'react';
import { duration } from '../words/time.ts';
import { useClock } from './clock.ts';

/** Shows the seconds since an ISO time or a time in ms. Shows nothing during the first second. */
export function Elapsed({ since }: { since: string | number | undefined }) {
  const [present, setNow] = useState(() => Date.now());
  const now = useClock() ?? present;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const start = typeof since === 'string' ? Date.parse(since) : since;
  if (start === undefined || Number.isNaN(start) || now - start < 1000) return null;
  return <span>{duration(Math.floor((now - start) / 1000) * 1000)}</span>;
}
