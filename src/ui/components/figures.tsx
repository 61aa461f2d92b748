/** Numbers: single figures, bars and times. */
import type { ComponentChildren } from 'preact';
import { useLanguage } from '../words/index.ts';

/** One figure: its name, its value with the unit, and a note that compares it with something. */
export interface Figure {
  label: string;
  value: string;
  detail?: ComponentChildren;
  /** The link to what the figure counts. */
  href?: string;
}

/** Several figures side by side. */
export function Stats({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl class="stats">
      {figures.map(({ label, value, detail, href }) => (
        <div key={label} class="stat">
          <dt>{label}</dt>
          <dd>{href === undefined ? value : <a href={href}>{value}</a>}</dd>
          {detail && <dd>{detail}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** Facts about one record, one below the other: name and value. */
export function Facts({ facts }: { facts: readonly { label: string; value: ComponentChildren }[] }) {
  return (
    <dl class="facts">
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A bar for a share of a whole. */
export function Meter({ label, value, max }: { label: string; value: number; max: number }) {
  return <progress aria-label={label} value={Math.min(value, max)} max={Math.max(max, 1)} />;
}

/** A time: date and time in the user's time zone, or how long ago if `now` is given; a dash for none. */
export function Time({ at, now }: { at: Date | null; now?: Date }) {
  const language = useLanguage();
  if (at === null) return '–';
  const full = language.dateTime(at);
  return (
    <time dateTime={at.toISOString()} {...(now && { title: `${full} ${language.zone}` })}>
      {now ? language.relative(at, now) : full}
    </time>
  );
}
