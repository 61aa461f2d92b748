/** Components for figures, facts, shares and times. */
import type { ComponentChildren } from 'preact';
import { useLanguage } from '../words/index.ts';

/** A figure with its name. */
export interface Figure {
  label: string;
  /** The value with its unit. */
  value: string;
  /** A note below the value, such as what the value is a share of. */
  detail?: ComponentChildren;
  /** The link to the records that the figure counts. */
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

/** The names and values of facts about one record, one below the other. */
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

/** A bar that shows a value as a share of `max`. */
export function Meter({ label, value, max }: { label: string; value: number; max: number }) {
  return <progress aria-label={label} value={Math.min(value, max)} max={Math.max(max, 1)} />;
}

/** A time in the user's time zone; with `now`, how long ago it was. A dash if there is no time. */
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
