/** What stays on a page beside the parts that the script `live` replaces. */
import { useLanguage } from '../words/index.ts';
import { Button, LinkButton } from './button.tsx';
import { Icon } from './icon.tsx';

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
