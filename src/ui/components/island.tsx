/** A part of a page that a script controls, and the announcements of its changes. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useLanguage } from '../words/index.ts';
import { Button, LinkButton } from './button.tsx';
import { Icon } from './icon.tsx';

const Islands = createContext(new Set<string>());

/** Collects the names of the scripts that the components below it need. */
export const IslandsProvider = Islands.Provider;

/**
 * Marks its children for the script `name` (a file of `islands/`), and adds that script to the page. The script reads `data` as
 * JSON from the attribute `data-props`. Without scripts the children are shown as they are.
 */
export function Island({ name, data, children }: { name: string; data?: unknown; children?: ComponentChildren }) {
  useContext(Islands).add(name);
  return (
    <div class="island" data-island={name} {...(data !== undefined && { 'data-props': JSON.stringify(data) })}>
      {children}
    </div>
  );
}

/**
 * The live region in which screen readers announce numbers of results or progress, and the place for the notice that the page
 * could not be updated. It is outside the replaced parts, because a replaced live region would not be announced.
 */
export function LiveNotes() {
  const language = useLanguage();
  return (
    <>
      <p class="visually-hidden" role="status" data-live="news" />
      <div class="live-failure" role="alert" data-live="failure" />
      <template data-live="failed">
        <div class="notice bad">
          <Icon name="stop" />
          <div>{language.say('live.failed')}</div>
          <Button type="button" look="plain" label={language.say('live.again')} />
        </div>
      </template>
      <template data-live="signed-out">
        <div class="notice warn">
          <Icon name="warning" />
          <div>{language.say('live.signedOut')}</div>
          <LinkButton look="plain" href="/login" label={language.say('live.signIn')} />
        </div>
      </template>
    </>
  );
}
