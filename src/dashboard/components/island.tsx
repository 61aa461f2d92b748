/** A part of a page that a script takes over, and what such a part says of itself when it changes without being asked. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useLanguage } from '../words/index.ts';
import { Button, LinkButton } from './button.tsx';
import { Icon } from './icon.tsx';

const Islands = createContext(new Set<string>());

/** Collects the names of the scripts that the components below it need. */
export const IslandsProvider = Islands.Provider;

/**
 * Marks its children as what the script `name` (a file of `islands/`) takes over, and adds that script to the page. The script gets
 * `data` as JSON from the attribute `data-props`. The children are what is shown without it.
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
 * The region in which a screen reader hears how many were found or how far something is, and the place for the notice that the page could
 * not be brought up to date. A region that was replaced with the parts would not be read.
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
          <Button type="button" look="plain">
            {language.say('live.again')}
          </Button>
        </div>
      </template>
      <template data-live="signed-out">
        <div class="notice warn">
          <Icon name="warning" />
          <div>{language.say('live.signedOut')}</div>
          <LinkButton look="plain" href="/login">
            {language.say('live.signIn')}
          </LinkButton>
        </div>
      </template>
    </>
  );
}
