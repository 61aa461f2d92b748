/** The settings page for the check, the language and the links of mails, and for keeping sent mails. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageRoute } from '../../../http/pages/layout.ts';
import { Button } from '../../../ui/components/button.tsx';
import { CheckField, SelectField } from '../../../ui/components/field.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { ask, attempt } from '../../../ui/operations.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { requireOwner } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { languageOptions } from '../../../ui/words/known.ts';
import { LinkFields } from '../../screens/compose/link-fields.tsx';
import { changeMailSettings, type MailSettings, readMailSettings } from '../operations.ts';

/** Registers the settings page of mails. */
export async function mailSettingsScreen(app: FastifyInstance): Promise<void> {
  pageRoute(app, '/settings/mails', (request, reply) => {
    requireOwner(request);
    return show(request, reply);
  });

  app.post('/settings/mails/check', async (request, reply) => {
    requireOwner(request);
    const stops_errors = field(request, 'stops_errors') === '1' ? 1 : 0;
    const changed = await attempt(request, changeMailSettings, { stops_errors });
    if ('output' in changed) return backTo(reply, 'mails', 'settings.done.mailsSaved');
    return show(request, reply.code(changed.status), changed.text);
  });

  app.post('/settings/mails/language', async (request, reply) => {
    requireOwner(request);
    const changed = await attempt(request, changeMailSettings, { language: field(request, 'language') });
    if ('output' in changed) return backTo(reply, 'mails', 'settings.done.mailsSaved');
    return show(request, reply.code(changed.status), changed.text);
  });

  app.post('/settings/mails/sent', async (request, reply) => {
    requireOwner(request);
    const keeps_sent_mails = field(request, 'keeps_sent_mails') === '1' ? 1 : 0;
    const changed = await attempt(request, changeMailSettings, { keeps_sent_mails });
    if ('output' in changed) return backTo(reply, 'mails', 'settings.done.sentMailsSaved');
    return show(request, reply.code(changed.status), changed.text);
  });

  app.post('/settings/mails/links', async (request, reply) => {
    requireOwner(request);
    const changed = await attempt(request, changeMailSettings, {
      utm_source: field(request, 'utm_source').trim(),
      utm_medium: field(request, 'utm_medium').trim(),
      utm_campaign: field(request, 'utm_campaign').trim(),
      utm_content: field(request, 'utm_content') === '1' ? 1 : 0,
    });
    if ('output' in changed) return backTo(reply, 'mails', 'settings.done.mailsSaved');
    return show(request, reply.code(changed.status), changed.text);
  });

  async function show(request: FastifyRequest, reply: FastifyReply, problem = '') {
    const { settings } = await ask(request, readMailSettings, {});
    const content = (
      <div class="stack">
        <CheckCard settings={settings} />
        <LanguageCard settings={settings} />
        <LinkCard settings={settings} />
        <SentCard settings={settings} />
      </div>
    );
    return sendSettings(request, reply, 'mails', content, problem);
  }
}

function CheckCard({ settings: { stops_errors } }: { settings: MailSettings }) {
  const language = useLanguage();
  return (
    <Card title={language.say('mailSettings.check.title')}>
      <p class="quiet-text">{language.say('mailSettings.check.about')}</p>
      <form method="post" action="/settings/mails/check" class="stack">
        <CheckField
          name="stops_errors"
          value="1"
          label={language.say('mailSettings.check.stops')}
          checked={stops_errors === 1}
        />
        <Button label={language.say('mailSettings.save')} />
      </form>
    </Card>
  );
}

function LanguageCard({ settings }: { settings: MailSettings }) {
  const language = useLanguage();
  return (
    <Card title={language.say('mailSettings.language.title')}>
      <p class="quiet-text">{language.say('mailSettings.language.about')}</p>
      <form method="post" action="/settings/mails/language" class="stack">
        <SelectField
          name="language"
          label={language.say('field.language')}
          value={settings.language}
          options={languageOptions(language)}
        />
        <Button look="plain" label={language.say('mailSettings.save')} />
      </form>
    </Card>
  );
}

function LinkCard({ settings }: { settings: MailSettings }) {
  const language = useLanguage();
  return (
    <Card title={language.say('mailSettings.links.title')}>
      <p class="quiet-text">{language.say('mailSettings.links.about')}</p>
      <form method="post" action="/settings/mails/links" class="stack">
        <LinkFields values={settings} sourceHint={language.say('mailSettings.links.source.hint')} />
        <Button look="plain" label={language.say('mailSettings.save')} />
      </form>
    </Card>
  );
}

function SentCard({ settings: { keeps_sent_mails } }: { settings: MailSettings }) {
  const language = useLanguage();
  return (
    <Card title={language.say('sentMails.title')}>
      <p class="quiet-text">{language.say('mailSettings.sent.about')}</p>
      <form method="post" action="/settings/mails/sent" class="stack">
        <CheckField
          name="keeps_sent_mails"
          value="1"
          label={language.say('mailSettings.sent.keep')}
          checked={keeps_sent_mails === 1}
        />
        <Button look="plain" label={language.say('mailSettings.save')} />
      </form>
    </Card>
  );
}
