/** Islands: parts of a page that a script controls, and the announcements of their changes. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useLanguage } from '../words/index.ts';
import { Button, LinkButton } from './button.tsx';
import { Icon } from './icon.tsx';

const Islands = createContext(new Set<string>());

/** Collects in a set the names of the scripts that the components inside need. */
export const IslandsProvider = Islands.Provider;

/**
 * Marks its children for the script `name`, which is a file of `islands/`, and adds this script to the page. The script reads `data` from
 * the attribute `data-props`, as JSON. Without scripts the children are shown unchanged.
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
 * The live region in which screen readers announce changes of a page, and the place for the notice that the page could not be updated.
 * Both must be outside the parts that a script replaces, because screen readers do not announce a live region that was replaced.
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
