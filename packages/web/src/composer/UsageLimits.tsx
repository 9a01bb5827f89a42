import type { UsageLimit } from '@liminal/protocol';
import { moment } from '../words/time.ts';
import css from './UsageLimits.module.css';

/** From this share on (percent), a limit counts as nearly used up. */
const nearlyUsed = 80;

/** How much of each usage limit of the agent's account is used, and when the limit resets. */
export function UsageLimits({ limits = [] }: { limits: readonly UsageLimit[] | undefined }) {
  const told = limits.filter(saysMore);
  if (told.length === 0) return null;
  return (
    <ul className={css.limits} aria-label="Usage limits">
      {told.map((limit) => (
        <li
          key={limit.name}
          data-near={limit.isReached === true || (limit.usedPercent ?? 0) >= nearlyUsed}
        >
          {inWords(limit)}
        </li>
      ))}
    </ul>
  );
}

/** Whether the limit has a value worth showing. */
const saysMore = ({ usedPercent, resetsAt, isReached }: UsageLimit): boolean =>
  usedPercent !== undefined || resetsAt !== undefined || isReached === true;

function inWords({ name, usedPercent, resetsAt, isReached }: UsageLimit): string {
  const used = usedPercent === undefined ? '' : ` ${Math.floor(usedPercent)}% used`;
  const share = isReached === true ? ' reached' : used;
  const end = resetsAt === undefined ? '' : moment(resetsAt, Date.now());
  return `${name}${share}${end === '' ? '' : `, resets ${end}`}`;
}
