import type { UsageLimit } from '@liminal/protocol';
import { moment } from '../words/time.ts';
import css from './UsageLimits.module.css';

/** From this share on, in percent, a limit is shown as nearly used up. */
const nearlyUsed = 80;

/** Shows how much of each usage limit of the agent's account is used, and when the limit resets. */
export function UsageLimits({ limits = [] }: { limits: readonly UsageLimit[] | undefined }) {
  const shownLimits = limits.filter(hasValue);
  if (shownLimits.length === 0) return null;
  return (
    <ul className={css.limits} aria-label="Usage limits">
      {shownLimits.map((limit) => (
        <li
          key={limit.name}
          data-near={limit.isReached === true || (limit.usedPercent ?? 0) >= nearlyUsed}
        >
          {limitText(limit)}
        </li>
      ))}
    </ul>
  );
}

/** Whether the limit has a value worth showing. */
const hasValue = ({ usedPercent, resetsAt, isReached }: UsageLimit): boolean =>
  usedPercent !== undefined || resetsAt !== undefined || isReached === true;

function limitText({ name, usedPercent, resetsAt, isReached }: UsageLimit): string {
  const used = usedPercent === undefined ? '' : ` ${Math.floor(usedPercent)}% used`;
  const share = isReached === true ? ' reached' : used;
  const end = resetsAt === undefined ? '' : moment(resetsAt, Date.now());
  return `${name}${share}${end === '' ? '' : `, resets ${end}`}`;
}
