/** The panel in the middle of the pages for signing in: what went wrong, what was done, and the form. */
import type { ComponentChildren } from 'preact';
import { Icon } from '../components/icon.tsx';
import { Card, Notice, Problem } from '../components/surface.tsx';

export function SignInPanel({
  title,
  problem = '',
  news = '',
  children,
}: {
  title: string;
  problem?: string;
  news?: string;
  children: ComponentChildren;
}) {
  return (
    <div class="sign-in">
      <p class="brand">
        <Icon name="lark" />
        <span>Sendlark</span>
      </p>
      <Card>
        <h1>{title}</h1>
        <Problem>{problem}</Problem>
        {news && (
          <Notice tone="good" isNews>
            {news}
          </Notice>
        )}
        {children}
      </Card>
    </div>
  );
}
