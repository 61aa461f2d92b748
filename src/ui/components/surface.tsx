/** Containers of content: cards, notices, empty states and tabs. */
import type { ComponentChildren } from 'preact';
import { useLanguage } from '../words/index.ts';
import { LinkButton } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { Lark, type LarkPose } from './lark.tsx';

/** The tone of a badge or notice: neutral (`plain`), done, in progress, needs attention, or failed. */
export type Tone = 'plain' | 'good' | 'busy' | 'warn' | 'bad';

/** A part of a page with a heading, and `action` to the right of the heading. `isList`: the part contains only a table. */
export function Card({
  title,
  action,
  isList = false,
  children,
}: {
  title?: string;
  action?: ComponentChildren;
  isList?: boolean;
  children: ComponentChildren;
}) {
  return (
    <section class={isList ? 'list' : 'card'}>
      {title && (
        <header class="card-head">
          <h2>{title}</h2>
          {action}
        </header>
      )}
      {children}
    </section>
  );
}

/** One or two words, such as the state of a record, in the colour of their tone. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

const ICONS: Readonly<Record<Tone, IconName>> = {
  plain: 'info',
  good: 'check',
  busy: 'info',
  warn: 'warning',
  bad: 'stop',
};

/**
 * A message about the page or the last action. `isNews`: screen readers announce the message when the page opens. `reloads`: the URL that
 * the browser loads when the user loads the page again, for an answer to a form that must not be sent twice.
 */
export function Notice({
  tone = 'plain',
  isNews = false,
  reloads,
  children,
}: {
  tone?: Tone;
  isNews?: boolean;
  reloads?: string;
  children: ComponentChildren;
}) {
  return (
    <div class={`notice ${tone}`} data-reloads={reloads} {...(isNews && { role: tone === 'bad' ? 'alert' : 'status' })}>
      <Icon name={ICONS[tone]} />
      <div>{children}</div>
    </div>
  );
}

/** A message about the problem with the last action. Screen readers announce it when the page opens. Shows nothing if there is no problem. */
export function Problem({ children }: { children: string | null | undefined }) {
  if (!children) return null;
  return (
    <Notice tone="bad" isNews>
      {children}
    </Notice>
  );
}

/** The content of an empty list: the lark, why the list is empty, and the next step. */
export function Empty({
  pose = 'sings',
  title,
  action,
  children,
}: {
  pose?: LarkPose;
  title: string;
  action?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Lark pose={pose} />
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </div>
  );
}

/** The content of a list in which a search or filter finds nothing. `all` is the path of the whole list. */
export function NothingFound({ title, all }: { title: string; all: string }) {
  const language = useLanguage();
  return (
    <Empty pose="looks" title={title} action={<LinkButton look="plain" href={all} label={language.say('empty.all')} />}>
      {language.say('empty.none')}
    </Empty>
  );
}

/** Links between the pages of one record. */
export function Tabs({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly { href: string; label: string; isCurrent: boolean }[];
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.href} href={tab.href} {...(tab.isCurrent && { 'aria-current': 'page' as const })}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
