/** Formats a duration in short: `0.2 s`, `6 s`, `2 min 5 s`, `1 h 4 min`. The duration is in milliseconds. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return parts(minutes, 'min', whole % 60, 's');
  return parts(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
}

function parts(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;
}

/**
 * Formats the time since a moment in short: `now`, `5 min`, `2 h`, `3 d`, and for older moments the date. The moment is
 * an ISO time.
 */
export function ago(iso: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(iso)) / 60_000);
  if (Number.isNaN(minutes)) return '';
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return new Date(iso).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
}

/**
 * Formats a moment that is near now, in the reader's time zone: `at 18:20`, `on Tue 24 Nov, 18:20`. The moment is an
 * ISO time.
 */
export function moment(iso: string, now: number): string {
  const when = new Date(iso);
  if (Number.isNaN(when.getTime())) return '';
  const time = when.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  if (when.toDateString() === new Date(now).toDateString()) return `at ${time}`;
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  return `on ${when.toLocaleDateString(undefined, day)}, ${time}`;
}

/** Returns the milliseconds from one ISO time to another; undefined if one of them is not a time. */
export function between(start: string | undefined, end: string): number | undefined {
  if (start === undefined) return undefined;
  const ms = Date.parse(end) - Date.parse(start);
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
