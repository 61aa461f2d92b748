/** A button that asks for confirmation, without a script. */
import type { ComponentChildren } from 'preact';
import { useLanguage } from '../words/index.ts';
import { Button } from './button.tsx';
import type { IconName } from './icon.tsx';

/**
 * Shows a button that opens a dialog. The dialog says what will happen, with numbers if possible, and contains the form;
 * `children` are within the form, for further fields. This is the only confirmation that needs no page of its own. `label` is
 * the text of both buttons, so it names the action: “Delete 12 contacts”. `id` must be unique on the page.
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
  /** The text of the button that closes the dialog: “Cancel”, unless that could be mistaken for the action. */
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
