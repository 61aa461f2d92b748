/** The panel in the middle of the pages for signing in. */
import type { ComponentChildren } from 'preact';
import { Icon } from '../components/icon.tsx';
import { Card, Notice } from '../components/surface.tsx';

export function SignInPanel({
  title,
  problem = '',
  children,
}: {
  title: string;
  problem?: string;
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
        {problem && (
          <Notice tone="bad" isNews>
            {problem}
          </Notice>
        )}
        {children}
      </Card>
    </div>
  );
}
