/** A button that asks for confirmation. It needs no script. */
import type { ComponentChildren } from 'preact';
import { useLanguage } from '../words/index.ts';
import { Button } from './button.tsx';
import type { IconName } from './icon.tsx';

/**
 * A button that opens a dialog with a form. `children`, which stand in the form, say what will happen, with numbers if possible, and can
 * have further fields. `label` is the text of both buttons, so it names the action: “Delete 12 contacts”. `id` must be unique on the
 * page.
 */
export function Confirm({
  id,
  action,
  label,
  look = 'danger',
  icon,
  title,
  dismiss,
  children,
}: {
  id: string;
  action: string;
  label: string;
  look?: 'danger' | 'primary' | 'plain';
  icon?: IconName;
  title: string;
  /** The text of the button that closes the dialog; “Cancel” by default, which could be mistaken for actions that cancel something. */
  dismiss?: string;
  children: ComponentChildren;
}) {
  const language = useLanguage();
  return (
    <>
      <Button
        type="button"
        look={look === 'danger' ? 'plain' : look}
        popovertarget={id}
        {...(icon && { icon })}
        label={label}
      />
      <div popover="auto" id={id} class="confirm" role="dialog" aria-labelledby={`${id}-title`}>
        <h2 id={`${id}-title`}>{title}</h2>
        <form method="post" action={action}>
          <div class="quiet-text">{children}</div>
          <div class="buttons">
            <Button look={look === 'plain' ? 'primary' : look} label={label} />
            <Button
              type="button"
              look="plain"
              popovertarget={id}
              popovertargetaction="hide"
              label={dismiss ?? language.say('confirm.cancel')}
            />
          </div>
        </form>
      </div>
    </>
  );
}
